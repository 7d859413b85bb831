#include "cache/pack_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <string_view>
#include <utility>

#include "cache/schema.hpp"
#include "cache/store.hpp"
#include "kiln/error.hpp"
#include "kiln/file_trouble.hpp"
#include "support/unique_handle.hpp"

namespace kiln::cache {

namespace {

struct DescriptorTraits {
  using Type = int;
  static Type invalid() noexcept { return -1; }
  static void close(Type descriptor) noexcept { ::close(descriptor); }
};

// What the files that Kiln and SQLite leave begin with. The application's number is in big-endian order.
constexpr std::string_view k_database_magic("SQLite format 3\0", 16);
constexpr std::string_view k_journal_magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
constexpr std::string_view k_ended_journal("\0\0\0\0\0\0\0\0", 8);  // of a transaction that is over
constexpr off_t k_application_id_at = 68;
constexpr std::string_view k_application_mark("Kiln");
static_assert(k_application_id == 0x4B696C6E, "the mark is that number's bytes");

bool is_there(const std::filesystem::path& file) noexcept {
  struct stat status{};
  return ::lstat(file.c_str(), &status) == 0;
}

bool is_empty_file(const std::filesystem::path& file) noexcept {
  struct stat status{};
  return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

/// Whether it is a regular file, itself and not by a link, with `bytes` at `place`.
bool holds(const std::filesystem::path& file, std::string_view bytes, off_t place = 0) {
  struct stat status{};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return false;
  }
  support::UniqueHandle<DescriptorTraits> descriptor(
      ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::string found(bytes.size(), '\0');
  return descriptor && ::pread(descriptor.get(), found.data(), found.size(), place) == std::ssize(found) &&
         found == bytes;
}

[[noreturn]] void fail(const std::filesystem::path& path, const char* action, int error) {
  throw StoreError(path.string(), std::string("cannot ") + action + ": " + file_trouble(error));
}

void sync(const std::filesystem::path& path, int flags) {
  support::UniqueHandle<DescriptorTraits> descriptor(::open(path.c_str(), flags | O_CLOEXEC));
  if (!descriptor) {
    fail(path, "open", errno);
  }
  if (::fsync(descriptor.get()) != 0) {
    fail(path, "write to disk", errno);
  }
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

void require_own_remains(const std::filesystem::path& file, const std::filesystem::path& output) {
  const bool begun = holds(file, k_database_magic) && holds(file, k_application_mark, k_application_id_at);
  const std::filesystem::path journal = beside(file, "-journal");
  const bool journal_is_ours =
      holds(journal, k_journal_magic) || holds(journal, k_ended_journal) || (begun && is_empty_file(journal));
  for (const auto& [path, is_ours] : {std::pair(file, begun), std::pair(journal, journal_is_ours),
                                      std::pair(beside(file, "-wal"), false), std::pair(beside(file, "-shm"), false)}) {
    if (!is_ours && is_there(path)) {
      throw StoreError(output.string(), "the pack cannot be written: " + quote_path(path) +
                                            " is in the way, and no pack that Kiln began: move it away, or name "
                                            "another pack");
    }
  }
}

FileIdentity make_anew(const std::filesystem::path& file, const std::filesystem::path& output) {
  const auto refuse = [&](const std::filesystem::path& what, const char* problem) {
    const int error = errno;
    throw StoreError(output.string(), "the pack cannot be written: '" + what.string() + "' cannot be " + problem +
                                          ": " + file_trouble(error));
  };
  require_own_remains(file, output);
  for (const char* suffix : {"", "-journal"}) {
    const std::filesystem::path old = beside(file, suffix);
    if (::unlink(old.c_str()) != 0 && errno != ENOENT) {
      refuse(old, "removed");
    }
  }
  // With the mode that SQLite gives its files.
  support::UniqueHandle<DescriptorTraits> descriptor(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  struct stat status{};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    refuse(file, "made");
  }
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

PackFile::PackFile(std::filesystem::path output, PackPolicy policy)
    : output_(std::move(output)), aside_(beside(output_, ".new")), identity_(make_anew(aside_, output_)) {
  try {
    store_ = std::make_unique<Store>(Database::open(aside_, Database::Access::build, std::chrono::milliseconds(0)));
    // The file is nobody's until it is renamed, and made anew after a crash: it needs no journal.
    store_->database().execute("PRAGMA auto_vacuum = NONE; PRAGMA synchronous = OFF");
    store_->database().text("PRAGMA journal_mode = MEMORY");
    create_pack_schema(store_->database(), policy);
    store_->database().execute("BEGIN IMMEDIATE");
  } catch (const SqliteError& problem) {
    give_up();
    throw StoreError(output_.string(), std::string("the pack cannot be written: ") + problem.what());
  }
}

PackFile::~PackFile() {
  if (!is_in_place_) {
    give_up();
  }
}

void PackFile::give_up() noexcept {
  store_.reset();
  if (is_ours()) {
    ::unlink(aside_.c_str());
  }
}

/// Another process may have begun anew.
bool PackFile::is_ours() const noexcept {
  const std::optional<FileState> state = state_of(aside_);
  return state && state->identity == identity_;
}

void PackFile::add(const Row& row) {
  Row stored = row;
  stored.last_used = row.created;
  try {
    store_->put(stored);
  } catch (const SqliteError& problem) {
    throw StoreError(output_.string(), std::string("the pack cannot be written: ") + problem.what());
  }
}

void PackFile::finish() {
  try {
    store_->database().execute("COMMIT");
  } catch (const SqliteError& problem) {
    throw StoreError(output_.string(), std::string("the pack cannot be written: ") + problem.what());
  }
  store_.reset();
  struct stat before{};
  if (::stat(output_.c_str(), &before) == 0 && ::chmod(aside_.c_str(), before.st_mode & 0777) != 0) {
    fail(aside_, "give it the permissions of the pack it replaces", errno);
  }
  sync(aside_, O_RDONLY);
  if (!is_ours()) {
    throw StoreError(output_.string(), "another process writes this pack as well, and began later: it is left to that");
  }
  if (::rename(aside_.c_str(), output_.c_str()) != 0) {
    fail(output_, "put the pack in place", errno);
  }
  is_in_place_ = true;
  sync(directory_of(output_), O_RDONLY | O_DIRECTORY);
}

}  // namespace kiln::cache
