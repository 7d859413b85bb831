#include "emulation/block_runner.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "emulation/workspace.hpp"
#include "kiln/error.hpp"

namespace kiln::emulation {
namespace {

constexpr unsigned k_warp_size = 32;
constexpr unsigned k_lanes_taking_part = 32;  // of what a warp operation gives: the mask, behind 32 values
constexpr unsigned long long k_no_value = 0x0101010101010101ULL * abi::k_garbage;

std::string text_of(abi::Index3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

/// A file's name as the source knows it.
std::string name_of_file(std::string_view path) {
  const std::size_t folder = path.find(k_source_folder);
  return std::string(folder == std::string_view::npos ? path : path.substr(folder + k_source_folder.size() + 1));
}

bool same_site(const abi::Site& a, const abi::Site& b) { return a.line == b.line && std::strcmp(a.file, b.file) == 0; }

const char* name_of(abi::Barrier kind) {
  switch (kind) {
    case abi::Barrier::plain:
      return "__syncthreads";
    case abi::Barrier::count:
      return "__syncthreads_count";
    case abi::Barrier::any:
      return "__syncthreads_or";
    case abi::Barrier::all:
      return "__syncthreads_and";
  }
  return "";
}

}  // namespace

void BlockRunner::run(const abi::Entry& entry, void** arguments, abi::Index3 block_dim, std::size_t number) {
  entry_ = &entry;
  arguments_ = arguments;
  reset(block_dim, number);
  *module_.hooks = {this,
                    [](void* self, abi::Barrier kind, int predicate, abi::Site site) {
                      return static_cast<BlockRunner*>(self)->barrier(kind, predicate, site);
                    },
                    [](void* self, unsigned mask, unsigned long long value, const char* call, abi::Site site) {
                      return static_cast<BlockRunner*>(self)->exchange(mask, value, call, site);
                    },
                    [](void* self) {
                      auto* runner = static_cast<BlockRunner*>(self);
                      return runner->warps_[runner->current_->warp].alive;
                    },
                    [](void* self, const char* message, abi::Site site) {
                      auto* runner = static_cast<BlockRunner*>(self);
                      runner->current_->site = site;
                      runner->failure_ = message + (" in " + runner->place_of(*runner->current_));
                      runner->abandon();
                    }};
  worker_ = idle_worker();
  if (worker_ == nullptr) {
    throw std::bad_alloc();
  }
  Fiber::switch_from_to(*main_, worker_->fiber);
  if (!failure_.empty()) {
    // Their stacks hold threads that will never go on.
    workers_.clear();
    idle_.clear();
    throw Error(ErrorCode::invalid_argument, std::exchange(failure_, {}));
  }
}

void BlockRunner::reset(abi::Index3 block_dim, std::size_t number) {
  // Made anew for each block: a launch may come from another thread than the last.
  main_ = std::make_unique<Fiber>();
  backwards_ = number % 2 != 0;
  const std::size_t count = std::size_t{block_dim.x} * block_dim.y * block_dim.z;
  threads_.resize(count);
  received_.resize(count);
  warps_.assign((count + k_warp_size - 1) / k_warp_size, Warp{});
  std::size_t i = 0;
  for (unsigned z = 0; z < block_dim.z; ++z) {
    for (unsigned y = 0; y < block_dim.y; ++y) {
      for (unsigned x = 0; x < block_dim.x; ++x, ++i) {
        Thread& thread = threads_[i];
        thread.index = {x, y, z};
        thread.warp = static_cast<unsigned>(i / k_warp_size);
        thread.lane_bit = 1U << (i % k_warp_size);
        thread.status = Status::running;
        warps_[thread.warp].alive |= thread.lane_bit;
      }
    }
  }
  started_ = 0;
  finished_ = 0;
  at_barrier_ = 0;
  ready_.clear();
  ready_.reserve(count);
  next_ready_ = 0;
}

void BlockRunner::Worker::work(void* self) {
  auto& worker = *static_cast<Worker*>(self);
  BlockRunner& runner = worker.runner;
  for (;;) {
    runner.start_thread();
    runner.entry_->run(runner.arguments_);
    runner.finish_thread();
    if (runner.next_ready_ == runner.ready_.size() && runner.started_ < runner.threads_.size()) {
      continue;
    }
    runner.idle_.push_back(&worker);
    runner.go_on();
  }
}

void BlockRunner::start_thread() {
  const std::size_t number = started_++;
  make_current(threads_[backwards_ ? threads_.size() - 1 - number : number]);
}

void BlockRunner::finish_thread() {
  Thread& thread = *current_;
  thread.status = Status::finished;
  ++finished_;
  Warp& warp = warps_[thread.warp];
  warp.alive &= ~thread.lane_bit;
  // Whoever waits may have waited for this thread alone.
  for (unsigned lane = 0; lane < k_warp_size && warp.waiting != 0; ++lane) {
    if ((warp.waiting >> lane & 1U) != 0) {
      const Thread& asking = thread_of(warp, lane);
      if (complete_exchange(warp, asking)) {
        release_exchange(warp, asking);
      }
    }
  }
  if (at_barrier_ != 0 && at_barrier_ + finished_ == threads_.size()) {
    release_barrier();
  }
}

/// The current thread waits; returns when it is ready and its turn has come.
void BlockRunner::wait() {
  Thread& thread = *current_;
  thread.worker = worker_;
  go_on();
  make_current(thread);
}

/// Leaves the running fiber for whatever can run: a ready thread, one that has not started, or, when all are done, the
/// caller of run(). Returns when something switches back.
void BlockRunner::go_on() {
  Worker& left = *worker_;
  if (next_ready_ < ready_.size()) {
    Thread& next = *ready_[next_ready_++];
    if (next_ready_ == ready_.size()) {
      ready_.clear();
      next_ready_ = 0;
    }
    worker_ = next.worker;
  } else if (started_ < threads_.size()) {
    Worker* const next = idle_worker();
    if (next == nullptr) {
      failure_ = "no memory for the stacks of " + std::to_string(workers_.size() + 1) + " threads of a block";
      abandon();
    }
    worker_ = next;
  } else if (finished_ == threads_.size()) {
    Fiber::switch_from_to(left.fiber, *main_);
    return;
  } else {
    failure_ = deadlock();
    abandon();
  }
  if (worker_ != &left) {
    Fiber::switch_from_to(left.fiber, worker_->fiber);
  }
}

/// Null when there is no memory for one more: no exception may leave a fiber.
BlockRunner::Worker* BlockRunner::idle_worker() noexcept {
  try {
    if (idle_.empty()) {
      workers_.push_back(std::make_unique<Worker>(*this));
      idle_.reserve(workers_.size());
      return workers_.back().get();
    }
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  Worker* const worker = idle_.back();
  idle_.pop_back();
  return worker;
}

void BlockRunner::make_current(Thread& thread) {
  thread.status = Status::running;
  current_ = &thread;
  *module_.thread_index = thread.index;
}

void BlockRunner::make_ready(Thread& thread) {
  thread.status = Status::ready;
  ready_.push_back(&thread);
}

/// Ends the block with `failure_`. The running fiber is left for good and never unwound, so that no caller may own
/// anything at this point.
void BlockRunner::abandon() {
  Fiber::switch_from_to(worker_->fiber, *main_);
  __builtin_unreachable();
}

int BlockRunner::barrier(abi::Barrier kind, int predicate, abi::Site site) {
  Thread& thread = *current_;
  thread.status = Status::at_barrier;
  thread.barrier = kind;
  thread.call = name_of(kind);
  thread.predicate = predicate != 0 ? 1 : 0;
  thread.site = site;
  ++at_barrier_;
  if (at_barrier_ + finished_ == threads_.size()) {
    release_barrier();
  }
  wait();
  return thread.result;
}

void BlockRunner::release_barrier() {
  const Thread* first = nullptr;
  int count = 0;
  int total = 0;
  for (const Thread& thread : threads_) {
    if (thread.status == Status::at_barrier) {
      first = first == nullptr ? &thread : first;
      if (!same_site(thread.site, first->site) || thread.barrier != first->barrier) {
        failure_ = "threads of a block wait at different barriers: " + describe(*first) + ", " + describe(thread);
        abandon();
      }
      count += thread.predicate;
      ++total;
    }
  }
  for (Thread& thread : threads_) {
    if (thread.status == Status::at_barrier) {
      switch (thread.barrier) {
        case abi::Barrier::plain:
          break;
        case abi::Barrier::count:
          thread.result = count;
          break;
        case abi::Barrier::any:
          thread.result = count != 0 ? 1 : 0;
          break;
        case abi::Barrier::all:
          thread.result = count == total ? 1 : 0;
          break;
      }
      make_ready(thread);
    }
  }
  at_barrier_ = 0;
}

const unsigned long long* BlockRunner::exchange(unsigned mask, unsigned long long value, const char* call,
                                                abi::Site site) {
  Thread& thread = *current_;
  thread.status = Status::in_warp_operation;
  thread.mask = mask;
  thread.value = value;
  thread.call = call;
  thread.site = site;
  if ((mask & thread.lane_bit) == 0) {
    failure_ = "a warp operation's mask leaves out its caller: " + describe(thread);
    abandon();
  }
  Warp& warp = warps_[thread.warp];
  warp.waiting |= thread.lane_bit;
  if (complete_exchange(warp, thread)) {
    release_exchange(warp, thread);
  }
  wait();
  return received_[static_cast<std::size_t>(&thread - threads_.data())].data();
}

/// Whether every lane that `asking` waits for, save those that have returned, waits in the same operation.
bool BlockRunner::complete_exchange(const Warp& warp, const Thread& asking) {
  const unsigned lanes = asking.mask & warp.alive;
  if ((lanes & ~warp.waiting) != 0) {
    return false;
  }
  for (unsigned lane = 0; lane < k_warp_size; ++lane) {
    if ((lanes >> lane & 1U) != 0) {
      const Thread& other = thread_of(warp, lane);
      if (other.mask != asking.mask || std::strcmp(other.call, asking.call) != 0) {
        return false;
      }
    }
  }
  return true;
}

void BlockRunner::release_exchange(Warp& warp, const Thread& asking) {
  const unsigned lanes = asking.mask & warp.alive;
  Received values;
  values.fill(k_no_value);
  values[k_lanes_taking_part] = lanes;
  for (unsigned lane = 0; lane < k_warp_size; ++lane) {
    if ((lanes >> lane & 1U) != 0) {
      values[lane] = thread_of(warp, lane).value;
    }
  }
  warp.waiting &= ~lanes;
  for (unsigned lane = 0; lane < k_warp_size; ++lane) {
    if ((lanes >> lane & 1U) != 0) {
      Thread& thread = thread_of(warp, lane);
      received_[static_cast<std::size_t>(&thread - threads_.data())] = values;
      make_ready(thread);
    }
  }
}

BlockRunner::Thread& BlockRunner::thread_of(const Warp& warp, unsigned lane) {
  return threads_[static_cast<std::size_t>(&warp - warps_.data()) * k_warp_size + lane];
}

std::string BlockRunner::place_of(const Thread& thread) const {
  return "block " + text_of(*module_.block_index) + ", thread " + text_of(thread.index) + ", at " +
         name_of_file(thread.site.file) + ":" + std::to_string(thread.site.line);
}

std::string BlockRunner::describe(const Thread& thread) const {
  return std::string(thread.call) + " in " + place_of(thread);
}

std::string BlockRunner::deadlock() const {
  std::string message = "threads of a block wait for ever:";
  const Thread* last = nullptr;
  int named = 0;
  for (const Thread& thread : threads_) {
    const bool waits = thread.status == Status::at_barrier || thread.status == Status::in_warp_operation;
    if (waits && named < 4 &&
        (last == nullptr || last->call != thread.call || last->mask != thread.mask ||
         !same_site(last->site, thread.site))) {
      message += (named == 0 ? " " : "; ") + describe(thread);
      last = &thread;
      ++named;
    }
  }
  return message;
}

}  // namespace kiln::emulation
