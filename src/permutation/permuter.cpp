#include "kiln/permuter.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "jit/driver.hpp"
#include "jit/driver_api.hpp"
#include "jit/stream_memory.hpp"
#include "kiln/error.hpp"
#include "permutation/launch_check.hpp"
#include "permutation/permute_memory.hpp"
#include "permutation/row_bytes.hpp"
#include "permutation/scratch_plan.hpp"
#include "permutation/tune.hpp"
#include "support/fork.hpp"

namespace kiln {

namespace {

constexpr std::size_t k_max_kernels = 1024;
constexpr std::uint64_t k_max_positions = std::uint64_t{64} << 20;
constexpr unsigned k_default_shared_bytes = 48 * 1024;  // what a kernel may have unless it is allowed more

void allow_shared_bytes(const Kernel& kernel, unsigned bytes) {
  if (bytes > k_default_shared_bytes) {
    kernel.allow_shared_bytes(bytes);
  }
}

}  // namespace

struct PermuteKernel::State {
  Kernel kernel;
  std::vector<PermuteStep> steps;
  std::optional<PermuteRelay> relay;
  permutation::ScratchPlan plan;
  permutation::RowBytes bytes;
  std::string strategy;

  void run(void* y, const void* x, std::uint64_t rows, void* scratch, Stream stream) const {
    run_steps(steps, y, x, scratch, rows, [&](LaunchConfig config, std::span<const Argument> arguments) {
      config.stream = stream;
      kernel.launch_arguments(config, arguments);
    });
  }

  /// As one launch, or step by step for as many rows at a time as the scratch memory holds.
  void run_through(const PermuteScratch& scratch, void* y, const void* x, std::uint64_t rows, Stream stream) const {
    if (plan.relays(rows, scratch.bytes) && run_relay(static_cast<unsigned char*>(scratch.data), y, x, rows, stream)) {
      return;
    }
    const std::uint64_t at_once = plan.rows_at_once(rows, scratch.bytes);
    for (std::uint64_t first = 0; first < rows; first += at_once) {
      run(static_cast<unsigned char*>(y) + first * bytes.out, static_cast<const unsigned char*>(x) + first * bytes.in,
          std::min(at_once, rows - first), scratch.data, stream);
    }
  }

 private:
  /// False when the driver does not run as many blocks at a time as the whole device does: in a part of the device
  /// that is not told apart by its attributes (a green context, a process's share under MPS). Nothing was launched
  /// then.
  bool run_relay(unsigned char* scratch, void* y, const void* x, std::uint64_t rows, Stream stream) const {
    LaunchConfig config;
    config.grid = {relay->group_blocks, plan.groups, 1};
    config.block = {relay->threads, 1, 1};
    config.shared_bytes = relay->shared_bytes;
    config.stream = stream;
    config.cooperative = true;
    jit::clear_in_stream(*jit::Driver::open(), scratch, plan.counter_bytes(), stream);
    try {
      kernel.launch(config, y, x, static_cast<void*>(scratch + plan.counter_bytes()), static_cast<void*>(scratch),
                    static_cast<unsigned long long>(rows), plan.ring);
    } catch (const DriverError& error) {
      if (error.result() != jit::k_cuda_cooperative_launch_too_large && error.result() != jit::k_cuda_not_supported) {
        throw;
      }
      return false;
    }
    return true;
  }
};

void PermuteKernel::operator()(void* y, const void* x, std::uint64_t rows, Stream stream) const {
  permutation::check_launch(y, x, rows, state_->bytes);
  if (rows == 0) {
    return;
  }
  if (state_->plan.bundle_bytes == 0) {
    state_->run(y, x, rows, nullptr, stream);
    return;
  }
  const std::uint64_t bytes = scratch_bytes(rows);
  const jit::StreamMemory memory(jit::Driver::open(), bytes, stream);
  state_->run_through({memory.data(), bytes}, y, x, rows, stream);
}

void PermuteKernel::operator()(void* y, const void* x, std::uint64_t rows, const PermuteScratch& scratch,
                               Stream stream) const {
  if (rows == 0 || state_->plan.bundle_bytes == 0) {
    (*this)(y, x, rows, stream);
    return;
  }
  permutation::check_launch(y, x, rows, state_->bytes);
  permutation::check_scratch(scratch, state_->plan, y, x, rows, state_->bytes);
  state_->run_through(scratch, y, x, rows, stream);
}

std::uint64_t PermuteKernel::scratch_bytes(std::uint64_t rows) const noexcept { return state_->plan.bytes(rows); }
const Kernel& PermuteKernel::kernel() const noexcept { return state_->kernel; }
const std::string& PermuteKernel::strategy() const noexcept { return state_->strategy; }

struct Permuter::State {
  using Memory = permutation::PermuteMemory<std::shared_ptr<const PermuteKernel::State>>;

  explicit State(Service given) : service(std::move(given)), current_(new Generation) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { delete current_.load(); }

  /// That of this process: a child made by fork() starts anew, since a lock it inherited may be held by a thread that
  /// it does not have. The parent's memory is then left alone.
  Memory& memory() {
    Generation* seen = current_.load(std::memory_order_acquire);
    if (seen->fork != support::fork_generation()) [[unlikely]] {
      auto* fresh = new Generation;
      if (current_.compare_exchange_strong(seen, fresh, std::memory_order_acq_rel)) {
        return fresh->memory;
      }
      delete fresh;
    }
    return seen->memory;
  }

  const Service service;

 private:
  struct Generation {
    std::uint64_t fork = support::fork_generation();
    Memory memory{k_max_kernels, k_max_positions};
  };
  std::atomic<Generation*> current_;
};

Permuter::Permuter(Service service) : state_(std::make_shared<State>(std::move(service))) {}

PermuteKernel Permuter::get(const IndexMap& map, const PermuteShape& shape, const Target& target) const {
  const permutation::PermuteId id{state_->service.context_id(), map, shape, target, false};
  State::Memory& memory = state_->memory();
  if (auto known = memory.find(id)) {
    return PermuteKernel(std::move(*known));
  }
  const Target explicit_target = state_->service.resolve(target);
  PermuteRequest request = plan_permute(map, shape, explicit_target);
  Kernel kernel = state_->service.get(request.tmpl, request.values, explicit_target, request.module_data());
  unsigned shared_bytes = request.relay ? request.relay->shared_bytes : 0;
  for (const PermuteStep& step : request.steps) {
    shared_bytes = std::max(shared_bytes, step.geometry.shared_bytes);
  }
  allow_shared_bytes(kernel, shared_bytes);
  permutation::ScratchPlan plan{request.scratch_bundle_bytes, request.bundle_rows, 0, 0};
  if (request.relay) {
    const PermuteRelay& relay = *request.relay;
    plan.groups = kernel.resident_blocks(relay.threads, relay.shared_bytes) / relay.group_blocks;
    plan.ring = relay.ring;
  }
  auto made = std::make_shared<const PermuteKernel::State>(
      PermuteKernel::State{std::move(kernel), std::move(request.steps), request.relay, plan,
                           permutation::row_bytes(map, shape), std::move(request.strategy)});
  // Loading may have been what opened the driver: the id that the next request will have is asked for again. With a
  // driver that gives none nothing is remembered.
  if (const std::uint64_t context = state_->service.context_id(); context != 0) {
    memory.insert({context, map, shape, target, false}, made);
  }
  return PermuteKernel(std::move(made));
}

PermuteKernel Permuter::tune(const IndexMap& map, const PermuteShape& shape, const Target& target) const {
  if (shape.strategy != PermuteStrategy::automatic) {
    return get(map, shape, target);
  }
  const permutation::PermuteId id{state_->service.context_id(), map, shape, target, true};
  if (auto known = state_->memory().find(id)) {
    return PermuteKernel(std::move(*known));
  }
  PermuteShape tuned = shape;
  tuned.strategy = permutation::tuned_strategy(*this, state_->service, map, shape, state_->service.resolve(target));
  PermuteKernel kernel = get(map, tuned, target);
  if (const std::uint64_t context = state_->service.context_id(); context != 0) {
    state_->memory().insert({context, map, shape, target, true}, kernel.state_);
  }
  return kernel;
}

}  // namespace kiln
