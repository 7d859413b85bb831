#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "emulation/sanitizers.hpp"

namespace kiln::testing {

inline constexpr std::size_t k_alignment = 64;
inline constexpr std::size_t k_guard_bytes = 256;
inline constexpr std::byte k_guard{0xA7};

/// `bytes` bytes at an offset from an aligned address, with guards on both sides. With the address sanitizer the guards
/// cannot even be read while a kernel runs.
class Buffer {
 public:
  Buffer(std::size_t bytes, std::size_t offset)
      : size_(bytes),
        front_(k_guard_bytes + offset),
        memory_(new(std::align_val_t{k_alignment}) std::byte[front_ + bytes + k_guard_bytes]) {
    std::fill_n(memory_.get(), front_ + bytes + k_guard_bytes, k_guard);
  }
  std::byte* data() noexcept { return memory_.get() + front_; }
  std::size_t size() const noexcept { return size_; }
  void lock_guards() const noexcept {
    emulation::sanitizers::poison(memory_.get(), front_);
    emulation::sanitizers::poison(memory_.get() + front_ + size_, k_guard_bytes);
  }
  void unlock_guards() const noexcept {
    emulation::sanitizers::unpoison(memory_.get(), front_ + size_ + k_guard_bytes);
  }
  bool guards_intact() const noexcept {
    const auto intact = [](std::byte value) { return value == k_guard; };
    const std::byte* end = memory_.get() + front_ + size_;
    return std::all_of(memory_.get(), memory_.get() + front_, intact) && std::all_of(end, end + k_guard_bytes, intact);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{k_alignment}); }
  };
  std::size_t size_;
  std::size_t front_;
  std::unique_ptr<std::byte[], Free> memory_;
};

class LockedGuards {
 public:
  explicit LockedGuards(const Buffer& buffer) : buffer_(buffer) { buffer_.lock_guards(); }
  ~LockedGuards() { buffer_.unlock_guards(); }
  LockedGuards(const LockedGuards&) = delete;
  LockedGuards& operator=(const LockedGuards&) = delete;

 private:
  const Buffer& buffer_;
};

/// Bytes that repeat nowhere near: a wrong place shows in a few of them at the latest.
inline void fill(Buffer& buffer) {
  std::uint64_t state = 88172645463325252ULL;
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    buffer.data()[i] = static_cast<std::byte>(state >> 32);
  }
}

}  // namespace kiln::testing
