#include "service/service_state.hpp"

#include <utility>

#include "kiln/quote.hpp"
#include "support/fork.hpp"

namespace kiln {

namespace {

/// Failures kept with their logs; a caller with more distinct broken sources than this compiles some of them again.
constexpr std::size_t k_max_failures = 64;
/// Keys, of 16 bytes: whoever compiles more, and has the driver reject the first, compiles that once more.
constexpr std::size_t k_max_compiled_here = 65536;

cache::LibraryStamp stamp_of(const jit::NvrtcFile& file) {
  return {file.path.string(), file.device, file.inode, file.size, file.mtime_ns};
}

/// What is logged may quote anything, as errors do.
ServiceOptions with_printable_log(ServiceOptions options) {
  if (options.log) {
    options.log = [log = std::move(options.log)](LogLevel level, std::string_view message) {
      log(level, printable(message));
    };
  }
  return options;
}

}  // namespace

Service::State::State(ServiceOptions given)
    : options(with_printable_log(std::move(given))),
      store(options),
      artifacts(options.max_loaded),
      compiled_here(k_max_compiled_here),
      loaded(options.max_loaded, [](const Loaded& kernels) { return kernels.use_count() > 1; }),
      failures(k_max_failures) {
  if (!options.record.empty()) {
    recorder.emplace(options.record, options.log);
  }
}

std::shared_ptr<const jit::Nvrtc> Service::State::nvrtc() {
  std::lock_guard lock(toolchain_mutex);
  if (!opened_nvrtc) {
    jit::NvrtcSearch search = jit::find_nvrtc(options.nvrtc);
    opened_nvrtc = jit::Nvrtc::open(search);
    opened_stamp = stamp_of(search.found.value());
  }
  return opened_nvrtc;
}

void Service::State::learn_compiler(const Compiler& compiler) {
  std::unique_lock lock(toolchain_mutex);
  known_compiler = compiler;
  if (std::exchange(is_remembered, true)) {
    return;
  }
  cache::LibraryStamp stamp = opened_stamp;
  lock.unlock();
  if (!store.remember_compiler(stamp, compiler)) {
    lock.lock();
    is_remembered = false;  // at the next compile, when there may be a cache
  }
}

cache::CompilerPolicy Service::State::installed_compiler() {
  {
    std::lock_guard lock(toolchain_mutex);
    if (known_compiler) {
      return *known_compiler;
    }
  }
  cache::CompilerPolicy policy;
  jit::NvrtcSearch search = jit::find_nvrtc(options.nvrtc);
  if (search.found) {
    cache::LibraryStamp stamp = stamp_of(*search.found);
    policy = store.remembered_compiler(stamp);
    if (!policy) {
      try {
        policy = nvrtc()->identity();
        learn_compiler(*policy);
      } catch (const Error&) {
        // A library that cannot be opened is as good as none: the newest row serves.
      }
    }
  }
  std::lock_guard lock(toolchain_mutex);
  known_compiler = policy;
  return policy;
}

Target Service::State::resolve(const Target& target) const {
  return target.is_native() ? jit::Driver::open()->current_target() : target;
}

void Service::State::record(const Template& tmpl, const Values& values, const Target& target) {
  if (recorder) {
    recorder->add(tmpl, values, target);
  }
}

Service::Shared::Shared(ServiceOptions given)
    : current_(new Generation{support::fork_generation(), State(std::move(given))}) {}

Service::Shared::~Shared() {
  Generation* generation = current_.load();
  if (generation->fork == support::fork_generation()) {
    delete generation;
  }
}

Service::State& Service::Shared::state() {
  Generation* generation = current_.load(std::memory_order_acquire);
  std::uint64_t fork = support::fork_generation();
  if (generation->fork != fork) {
    std::unique_ptr<Generation> fresh(new Generation{fork, State(generation->state.options)});
    if (current_.compare_exchange_strong(generation, fresh.get())) {
      generation = fresh.release();
    }
  }
  return generation->state;
}

}  // namespace kiln
