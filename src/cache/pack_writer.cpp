#include <unistd.h>

#include <system_error>
#include <vector>

#include "cache/file_identity.hpp"
#include "cache/layer.hpp"
#include "cache/layered_store.hpp"
#include "cache/pack_file.hpp"
#include "cache/pack_layer.hpp"
#include "cache/trust.hpp"
#include "kiln/error.hpp"

namespace kiln::cache {

namespace {

constexpr char k_prepare_writing[] = "PRAGMA synchronous = OFF";
constexpr char k_lock[] = "PRAGMA locking_mode = EXCLUSIVE";

[[noreturn]] void fail(const std::filesystem::path& output, const SqliteError& error) {
  if (error.fault() == SqliteFault::busy) {
    throw StoreError(output.string(), "another process is writing this pack: wait for it, or choose another name");
  }
  throw StoreError(output.string(), std::string("the pack cannot be written: ") + error.what());
}

std::unique_ptr<Store> open_aside(const std::filesystem::path& aside) {
  auto store = std::make_unique<Store>(Database::open(aside, Database::Access::build, std::chrono::milliseconds(0)));
  // Held until the end, so that two processes never write the same pack.
  store->database().text(k_lock);
  store->database().execute(k_prepare_writing);
  return store;
}

/// Rows that a crash left damaged are dropped: they are compiled again.
void drop_damaged(Store& store) {
  std::vector<std::int64_t> damaged;
  store.visit_all([&damaged](const Row& row) {
    if (!to_artifact(row)) {
      damaged.push_back(row.id);
    }
    return true;
  });
  Transaction transaction(store.database());
  for (std::int64_t id : damaged) {
    store.drop(id);
  }
  transaction.commit();
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& file) noexcept {
  const std::optional<FileState> state = state_of(file);
  return state ? std::optional(state->identity) : std::nullopt;
}

/// Goes on where an interrupted run stopped. Nothing if there is nothing that can be used: what somebody else may have
/// written would get into the pack, which is trusted.
std::unique_ptr<Store> resume(const std::filesystem::path& aside, PackPolicy policy) {
  if (!trust_database(aside, Owner::root_or_caller, ::geteuid()).trusted()) {
    return nullptr;
  }
  try {
    std::unique_ptr<Store> store = open_aside(aside);
    if (header_of(store->database()).kind == FileHeader::Kind::ours && read_pack_policy(store->database()) == policy) {
      drop_damaged(*store);
      return store;
    }
  } catch (const SqliteError& error) {
    if (error.fault() != SqliteFault::content) {
      throw;
    }
  }
  return nullptr;
}

/// Whatever stands at `output` is taken over, so that a pack can be extended.
std::unique_ptr<Store> begin(const std::filesystem::path& output, const std::filesystem::path& aside,
                             PackPolicy policy) {
  OpenPack before;
  if (state_of(output)) {
    before = open_pack(output, "it is left as it is: name another file");
  }
  make_anew(aside, output);
  std::unique_ptr<Store> store = open_aside(aside);
  create_pack_schema(store->database(), policy);
  if (before.connection != nullptr) {
    Transaction transaction(store->database());
    before.connection->store().visit_all([&store](const Row& row) {
      if (to_artifact(row)) {
        store->put(row);
      }
      return true;
    });
    transaction.commit();
  }
  return store;
}

}  // namespace

struct PackWriter::State {
  std::filesystem::path output;
  std::filesystem::path aside;
  PackPolicy policy = PackPolicy::any;
  std::unique_ptr<Store> store;
  std::optional<FileIdentity> identity;  ///< of what is at `aside`
};

PackWriter::PackWriter(const std::filesystem::path& output, PackPolicy policy)
    : state_(std::make_unique<State>(State{output, beside(output, ".partial"), policy, nullptr, {}})) {
  // Both, before anything is compiled: the second is needed at the end.
  require_own_remains(state_->aside, output);
  require_own_remains(beside(output, ".new"), output);
  try {
    state_->store = resume(state_->aside, policy);
    if (state_->store == nullptr) {
      state_->store = begin(output, state_->aside, policy);
    }
    state_->identity = identity_of(state_->aside);
  } catch (const SqliteError& error) {
    fail(output, error);
  }
}

PackWriter::~PackWriter() = default;

bool PackWriter::contains(const Key& key, const Compiler& compiler) {
  std::optional<std::int64_t> column = to_column(compiler);
  try {
    return column && state_->store->contains(to_digest(key), *column);
  } catch (const SqliteError& error) {
    fail(state_->output, error);
  }
}

void PackWriter::put(const Artifact& artifact) {
  std::optional<Row> row = to_row(artifact, artifact.created);
  if (!row) {
    throw StoreError(state_->output.string(), "the kernel of template " + artifact.template_name + " for " +
                                                  artifact.target.text() + " by " + artifact.compiler.text() +
                                                  " cannot be stored: its image is no cubin, or its compiler's "
                                                  "version has no number");
  }
  try {
    Transaction transaction(state_->store->database());
    state_->store->put(*row);
    transaction.commit();
  } catch (const SqliteError& error) {
    fail(state_->output, error);
  }
}

void PackWriter::finish() {
  try {
    if (state_->store->count() == 0 && !state_of(state_->output)) {
      drop_aside();
      return;
    }
    PackFile pack(state_->output, state_->policy);
    state_->store->visit_all([&pack](const Row& row) {
      pack.add(row);
      return true;
    });
    pack.finish();
  } catch (const SqliteError& error) {
    fail(state_->output, error);
  }
  drop_aside();
}

void PackWriter::drop_aside() noexcept {
  state_->store.reset();
  if (identity_of(state_->aside) == state_->identity) {
    std::error_code error;
    std::filesystem::remove(state_->aside, error);
  }
}

}  // namespace kiln::cache
