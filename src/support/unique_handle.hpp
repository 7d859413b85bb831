#pragma once

#include <utility>

namespace kiln::support {

/// Owns one handle of a C library. `Traits` has `using Type`, `static Type invalid() noexcept` and
/// `static void close(Type) noexcept`. Move-only; moving leaves the source invalid.
template <typename Traits>
class UniqueHandle {
 public:
  using Type = typename Traits::Type;

  UniqueHandle() noexcept = default;
  explicit UniqueHandle(Type handle) noexcept : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) {
      reset(other.release());
    }
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  Type get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != Traits::invalid(); }
  Type release() noexcept { return std::exchange(handle_, Traits::invalid()); }
  void reset(Type handle = Traits::invalid()) noexcept {
    if (handle_ != Traits::invalid()) {
      Traits::close(handle_);
    }
    handle_ = handle;
  }
  /// For C functions that give a handle through a pointer. Closes what was held.
  Type* out() noexcept {
    reset();
    return &handle_;
  }

 private:
  Type handle_ = Traits::invalid();
};

}  // namespace kiln::support
