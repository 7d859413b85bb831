#include "cache/layered_store.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "cache/compression.hpp"
#include "cache/eviction.hpp"
#include "cache/pack_layer.hpp"
#include "cache/tally.hpp"
#include "cache/totals_file.hpp"
#include "cache/user_layer.hpp"
#include "support/wall_clock.hpp"

namespace kiln::cache {

namespace {

/// The compiler that the installed one is, asked for at most once a look-up.
class InstalledCompiler {
 public:
  explicit InstalledCompiler(const std::function<CompilerPolicy()>& ask) : ask_(ask) {}
  const CompilerPolicy& get() {
    if (!answer_) {
      answer_ = ask_();
    }
    return *answer_;
  }

 private:
  const std::function<CompilerPolicy()>& ask_;
  std::optional<CompilerPolicy> answer_;
};

/// The version to use; end if none may be.
std::vector<RowVersion>::const_iterator choose(const std::vector<RowVersion>& versions, PackPolicy policy,
                                               InstalledCompiler& installed) {
  // Asking for the compiler may mean opening it: only when there is something to choose.
  if (!versions.empty() && policy == PackPolicy::same && installed.get()) {
    std::optional<std::int64_t> compiler = to_column(*installed.get());
    return std::ranges::find_if(versions, [&](const RowVersion& version) { return version.compiler == compiler; });
  }
  return std::ranges::max_element(
      versions, {}, [](const RowVersion& version) { return std::pair(version.created, version.compiler); });
}

/// A decompressor's working memory is too large to be had from the system for each look-up: they are used again.
class Decompressors {
 public:
  std::unique_ptr<Decompressor> take() {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Decompressor> decompressor = std::move(free_.back());
        free_.pop_back();
        return decompressor;
      }
    }
    return std::make_unique<Decompressor>();
  }
  void give_back(std::unique_ptr<Decompressor> decompressor) {
    std::lock_guard lock(mutex_);
    if (free_.size() < k_kept) {
      free_.push_back(std::move(decompressor));
    }
  }

 private:
  static constexpr std::size_t k_kept = 8;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Decompressor>> free_;
};

/// One look-up as the layers see it.
struct Request {
  const Key& key;
  std::string_view spec;
  InstalledCompiler& installed;
  Decompressors& decompressors;
};

std::optional<Artifact> unpack(const Row& row, Decompressors& decompressors) {
  std::unique_ptr<Decompressor> decompressor = decompressors.take();
  std::optional<Artifact> artifact = to_artifact(row, *decompressor);
  decompressors.give_back(std::move(decompressor));
  return artifact;
}

struct Look {
  std::optional<Artifact> artifact;
  bool damaged = false;
};

Look look(Layer& layer, const Request& request, bool last_look) {
  Digest key = to_digest(request.key);
  Found found = layer.find(key);
  auto version = choose(found.versions, layer.policy(), request.installed);
  if (version == found.versions.end()) {
    return {};
  }
  std::optional<Row> row = std::move(found.first);
  if (!row || row->id != version->id) {
    row = layer.find(key, version->compiler);
  }
  if (!row) {
    return {};
  }
  std::optional<Artifact> artifact = unpack(*row, request.decompressors);
  if (!artifact || artifact->key != request.key) {
    if (last_look) {
      layer.damaged(*row);
    }
    return {std::nullopt, true};
  }
  if (artifact->spec != request.spec) {
    return {};  // another request with the same key: a miss, never a wrong kernel
  }
  layer.hit(*row);
  return {std::move(artifact), false};
}

std::optional<Artifact> look_twice(Layer& layer, const Request& request) {
  Look first = look(layer, request, false);
  if (first.artifact) {
    return std::move(first.artifact);
  }
  if (!layer.look_closer() && !first.damaged) {
    return std::nullopt;
  }
  return look(layer, request, true).artifact;
}

std::optional<Artifact> get_from(Layer& layer, const Request& request) {
  const Stopwatch stopwatch = layer.start();
  std::optional<Artifact> artifact = look_twice(layer, request);
  if (artifact) {
    layer.took(stopwatch);
  }
  return artifact;
}

std::string warning_of(const Totals& totals, std::uint64_t max_bytes) {
  const bool is_capped = max_bytes > 0;  // else the evictions are of another time, or of a process with a cap
  if (!is_capped || !evictions_outnumber_hits(totals.evicted, totals.hits)) {
    return {};
  }
  return "more entries were evicted (" + std::to_string(totals.evicted) + ") than found (" +
         std::to_string(totals.hits) + "): the cap of " + std::to_string(max_bytes) +
         " bytes is too small for what is asked of the cache; raise KILN_CACHE_MAX_SIZE";
}

}  // namespace

struct LayeredStore::State {
  std::vector<std::unique_ptr<Layer>> layers;  ///< in look-up order
  UserLayer* user = nullptr;                   ///< the last of them, if there is one
  Decompressors decompressors;
  LogCallback log;
  std::atomic<bool> homeless{false};  ///< no directory is known for a user cache, and nobody has been told
  std::uint64_t max_bytes = 0;
  std::atomic<std::uint64_t> puts{0};
  std::atomic<std::uint64_t> puts_lost{0};
  std::mutex mutex;
  Totals told;                 ///< through `count`; under the mutex
  std::optional<Tally> tally;  ///< of the user cache; the first to go, since it reads all the others

  /// By this store, for the totals.
  Totals counted() {
    Totals all{.puts = puts, .puts_lost = puts_lost};
    for (const std::unique_ptr<Layer>& layer : layers) {
      all.corrupt_dropped += layer->counters().corrupt_dropped;
      all.evicted += layer->counters().evicted;
      all.degraded += layer->counters().degraded;
    }
    std::lock_guard lock(mutex);
    return sum(all, told);
  }
};

LayeredStore::LayeredStore(const ServiceOptions& options) : state_(std::make_unique<State>()) {
  for (const std::filesystem::path& pack : options.packs) {
    state_->layers.push_back(std::make_unique<PackLayer>(pack, options.log));
  }
  if (options.cache_dir && options.cache_mode != CacheMode::off) {
    auto user = std::make_unique<UserLayer>(options);
    state_->user = user.get();
    state_->layers.push_back(std::move(user));
    state_->tally.emplace(*options.cache_dir, options.cache_mode == CacheMode::read_only,
                          [state = state_.get()] { return state->counted(); });
  }
  state_->log = options.log;
  state_->homeless = !options.cache_dir && options.cache_mode == CacheMode::read_write;
  state_->max_bytes = options.max_bytes;
}

LayeredStore::~LayeredStore() = default;

std::optional<Hit> LayeredStore::get(const Key& key, std::string_view spec,
                                     const std::function<CompilerPolicy()>& policy, Layers layers) {
  InstalledCompiler installed(policy);
  Request request{key, spec, installed, state_->decompressors};
  for (const std::unique_ptr<Layer>& layer : state_->layers) {
    if (layers == Layers::own && layer->is_pack()) {
      continue;
    }
    std::optional<Artifact> artifact = get_from(*layer, request);
    if (artifact) {
      return Hit{std::move(*artifact), layer->is_pack(), layer->name()};
    }
  }
  return std::nullopt;
}

void LayeredStore::count(const Totals& more) noexcept {
  {
    std::lock_guard lock(state_->mutex);
    state_->told = sum(state_->told, more);
  }
  if (state_->tally) {
    state_->tally->write_if_due();
  }
}

bool LayeredStore::contains(const Key& key) {
  return std::ranges::any_of(state_->layers, [&key](const auto& layer) { return layer->contains(to_digest(key)); });
}

bool LayeredStore::put(const Artifact& artifact) {
  if (state_->homeless.exchange(false) && state_->log) {
    state_->log(LogLevel::warning,
                "no directory is known for a cache: what is compiled is kept in memory only; set KILN_CACHE_DIR or "
                "HOME, or KILN_CACHE_MODE=off if it is meant so");
  }
  bool written = false;
  if (state_->user != nullptr) {
    try {
      std::optional<Row> row = to_row(artifact, support::seconds_since_epoch());
      written = row && state_->user->put(*row);
    } catch (const std::exception&) {
      // Too large to be stored, or short of memory: counted below.
    }
  }
  ++(written ? state_->puts : state_->puts_lost);
  return written;
}

void LayeredStore::drop(const Artifact& artifact) {
  if (state_->user != nullptr) {
    state_->user->drop(artifact);
  }
}

std::optional<Compiler> LayeredStore::remembered_compiler(const LibraryStamp& stamp) {
  std::optional<std::int64_t> column = state_->user == nullptr ? std::nullopt : state_->user->compiler_of(stamp);
  return column ? std::optional(to_compiler(*column)) : std::nullopt;
}

bool LayeredStore::remember_compiler(const LibraryStamp& stamp, const Compiler& compiler) {
  std::optional<std::int64_t> column = to_column(compiler);
  return state_->user != nullptr && column && state_->user->set_compiler(stamp, *column);
}

std::optional<std::string> LayeredStore::remembered_tuning(const Tuning& tuning) {
  return state_->user == nullptr ? std::nullopt : state_->user->tuning_of(tuning);
}

bool LayeredStore::remember_tuning(const Tuning& tuning, std::string_view strategy) {
  return state_->user != nullptr && state_->user->set_tuning(tuning, strategy);
}

std::optional<double> LayeredStore::recent_compile_ms(std::string_view template_name) {
  return state_->user == nullptr ? std::nullopt : state_->user->recent_compile_ms(template_name);
}

void LayeredStore::query(const Query& query, const std::function<bool(const Entry&)>& visit) {
  Query rest = query;
  for (const std::unique_ptr<Layer>& layer : state_->layers) {
    std::uint64_t seen = 0;
    bool go_on = layer->query(rest, [&](const Entry& entry) {
      ++seen;
      return visit(entry);
    });
    if (!go_on || (query.limit > 0 && rest.limit == seen)) {
      return;
    }
    rest.limit -= query.limit > 0 ? seen : 0;
  }
}

std::vector<Artifact> LayeredStore::find_by_prefix(std::string_view key_prefix) {
  std::vector<Artifact> artifacts;
  for (const std::unique_ptr<Layer>& layer : state_->layers) {
    layer->visit_prefix(key_prefix, [&artifacts](const Row& row) {
      std::optional<Artifact> artifact = to_artifact(row);
      if (artifact) {
        artifacts.push_back(std::move(*artifact));
      }
      return true;
    });
  }
  std::ranges::stable_sort(artifacts, std::greater(), &Artifact::created);
  return artifacts;
}

std::uint64_t LayeredStore::clear() { return state_->user == nullptr ? 0 : state_->user->clear(); }

void LayeredStore::fill(Stats& stats) {
  for (const std::unique_ptr<Layer>& layer : state_->layers) {
    stats.layers.push_back(layer->stats());
    stats.degraded += stats.layers.back().degraded ? 1 : 0;
  }
  const Totals counted = state_->counted();
  stats.hits = counted.hits;
  stats.misses = counted.misses;
  stats.compiles = counted.compiles;
  stats.compile_failures = counted.compile_failures;
  stats.puts = counted.puts;
  stats.puts_lost = counted.puts_lost;
  stats.corrupt_dropped = counted.corrupt_dropped;
  stats.evicted = counted.evicted;
  stats.lease_waits = counted.lease_waits;
  stats.lease_timeouts = counted.lease_timeouts;
  stats.max_bytes = state_->max_bytes;
  stats.totals = state_->tally ? state_->tally->totals() : counted;
  stats.warning = warning_of(stats.totals, state_->max_bytes);
}

}  // namespace kiln::cache
