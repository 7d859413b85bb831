#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/device/abi.h"
#include "emulation/fiber.hpp"

namespace kiln::emulation {

namespace abi = kiln_emulation;

/// Runs the threads of one block after the other, as fibers that change at barriers and warp operations only. A thread
/// that never waits costs no switch: the next one runs on the same fiber. Odd blocks run their threads backwards, so
/// that a kernel that leans on the order of threads is wrong somewhere. Not thread-safe.
class BlockRunner {
 public:
  explicit BlockRunner(const abi::Module& module) : module_(module) {}
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Runs a block of `block_dim` threads, `number` in the order of blocks, at module.block_index. Throws
  /// Error{invalid_argument} naming the kernel's place and the block and thread at fault: threads that wait for ever or
  /// at different barriers, a warp operation without its caller, a failed assertion or check.
  void run(const abi::Entry& entry, void** arguments, abi::Index3 block_dim, std::size_t number);

 private:
  enum class Status { running, ready, at_barrier, in_warp_operation, finished };
  struct Worker;
  using Received = std::array<unsigned long long, 33>;  // what the lanes of a warp gave, and the mask of those that did

  struct Thread {
    abi::Index3 index{};
    unsigned warp = 0;
    unsigned lane_bit = 0;
    Status status = Status::running;
    Worker* worker = nullptr;  // whose stack it waits on
    abi::Site site{};          // where it waits
    const char* call = "";     // and in what
    abi::Barrier barrier{};
    int predicate = 0;
    int result = 0;
    unsigned mask = 0;
    unsigned long long value = 0;
  };

  /// A fiber that runs threads until one waits, or all are done.
  struct Worker {
    explicit Worker(BlockRunner& owner) : runner(owner), fiber(&Worker::work, this) {}
    static void work(void* self);
    BlockRunner& runner;
    Fiber fiber;
  };

  /// Lanes of one warp.
  struct Warp {
    unsigned alive = 0;
    unsigned waiting = 0;  // in a warp operation
  };

  void reset(abi::Index3 block_dim, std::size_t number);
  void start_thread();
  void finish_thread();
  void wait();
  void go_on();
  Worker* idle_worker() noexcept;
  void make_current(Thread& thread);
  void make_ready(Thread& thread);
  [[noreturn]] void abandon();

  int barrier(abi::Barrier kind, int predicate, abi::Site site);
  void release_barrier();
  const unsigned long long* exchange(unsigned mask, unsigned long long value, const char* call, abi::Site site);
  bool complete_exchange(const Warp& warp, const Thread& asking);
  void release_exchange(Warp& warp, const Thread& asking);
  Thread& thread_of(const Warp& warp, unsigned lane);

  std::string place_of(const Thread& thread) const;
  std::string describe(const Thread& thread) const;
  std::string deadlock() const;

  const abi::Module& module_;
  const abi::Entry* entry_ = nullptr;
  void** arguments_ = nullptr;
  bool backwards_ = false;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<Received> received_;  // by thread; valid until its next warp operation
  std::size_t started_ = 0;
  std::size_t finished_ = 0;
  std::size_t at_barrier_ = 0;
  Thread* current_ = nullptr;
  Worker* worker_ = nullptr;  // that runs the current thread
  std::vector<Thread*> ready_;
  std::size_t next_ready_ = 0;
  std::unique_ptr<Fiber> main_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  std::string failure_;
};

}  // namespace kiln::emulation
