#include "kiln/permuter.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "permutation/launch_check.hpp"
#include "permutation/permute_memory.hpp"
#include "support/fork.hpp"

namespace kiln {

namespace {

constexpr std::size_t k_max_kernels = 1024;
constexpr std::uint64_t k_max_positions = std::uint64_t{64} << 20;
constexpr unsigned k_default_shared_bytes = 48 * 1024;  // what a kernel may have unless it is allowed more

}  // namespace

struct PermuteKernel::State {
  Kernel kernel;
  PermuteGeometry geometry;
  permutation::RowBytes bytes;
  std::string strategy;
};

void PermuteKernel::operator()(void* y, const void* x, std::uint64_t rows, Stream stream) const {
  permutation::check_launch(y, x, rows, state_->bytes);
  if (rows == 0) {
    return;
  }
  LaunchConfig config = state_->geometry.launch(rows);
  config.stream = stream;
  state_->kernel.launch(config, y, x, static_cast<unsigned long long>(rows));
}

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
  const permutation::PermuteId id{state_->service.context_id(), map, shape, target};
  State::Memory& memory = state_->memory();
  if (auto known = memory.find(id)) {
    return PermuteKernel(std::move(*known));
  }
  const Target explicit_target = state_->service.resolve(target);
  PermuteRequest request = plan_permute(map, shape, explicit_target);
  Kernel kernel = state_->service.get(request.tmpl, request.values, explicit_target, request.module_data());
  if (request.geometry.shared_bytes > k_default_shared_bytes) {
    kernel.allow_shared_bytes(request.geometry.shared_bytes);
  }
  const std::uint64_t block_bytes = shape.inner * shape.element_bytes;
  auto made = std::make_shared<const PermuteKernel::State>(
      PermuteKernel::State{std::move(kernel),
                           request.geometry,
                           {map.size() * block_bytes, map.source_size() * block_bytes, shape.element_bytes},
                           std::move(request.strategy)});
  // Loading may have been what opened the driver: the id that the next request will have is asked for again.
  memory.insert({state_->service.context_id(), map, shape, target}, made);
  return PermuteKernel(std::move(made));
}

}  // namespace kiln
