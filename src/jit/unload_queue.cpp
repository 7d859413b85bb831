#include "jit/unload_queue.hpp"

#include <new>

namespace kiln::jit {

namespace {

/// Makes a context current for a scope. Not `current` when the context is gone.
class ScopedContext {
 public:
  ScopedContext(const DriverApi& api, const ContextId& context) noexcept : api_(api) {
    auto* handle = static_cast<CUctx_st*>(context.handle);
    unsigned long long id = context.id;
    // A context made where a destroyed one was has another id.
    bool alive = api.ctx_get_id == nullptr || (api.ctx_get_id(handle, &id) == k_cuda_success && id == context.id);
    current_ = alive && api.ctx_push_current(handle) == k_cuda_success;
  }
  ~ScopedContext() {
    if (current_) {
      CUctx_st* popped = nullptr;
      api_.ctx_pop_current(&popped);
    }
  }
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;

  bool current() const noexcept { return current_; }

 private:
  const DriverApi& api_;
  bool current_ = false;
};

}  // namespace

bool legacy_stream_captured(const DriverApi& api) noexcept {
  int status = 0;
  CudaResult result = api.stream_is_capturing(nullptr, &status);
  return result == k_cuda_capture_implicit || (result == k_cuda_success && status != 0);
}

RelaxedCapture::RelaxedCapture(const DriverApi& api) noexcept
    : api_(api), exchanged_(api.thread_exchange_stream_capture_mode(&mode_) == k_cuda_success) {}

RelaxedCapture::~RelaxedCapture() {
  if (exchanged_) {
    api_.thread_exchange_stream_capture_mode(&mode_);
  }
}

bool UnloadQueue::unload(const LoadedImage& image) noexcept {
  if (legacy_stream_captured(api_)) {
    return false;
  }
  ScopedContext context(api_, image.context);
  if (context.current() && legacy_stream_captured(api_)) {
    return false;
  }
  RelaxedCapture relaxed(api_);
  if (image.library != nullptr) {
    api_.library_unload(image.library);
  } else if (context.current()) {
    // A module dies with its context; its handle must not be touched after that.
    api_.module_unload(image.module);
  }
  return true;
}

void UnloadQueue::retire(const LoadedImage& image) noexcept {
  if (!Driver::usable()) {
    return;
  }
  std::lock_guard lock(mutex_);
  try {
    waiting_.push_back(image);
  } catch (const std::bad_alloc&) {
    unload(image);  // or leak it, if a stream is being captured
  }
  unload_waiting();
}

void UnloadQueue::flush() noexcept {
  std::lock_guard lock(mutex_);
  unload_waiting();
}

void UnloadQueue::unload_waiting() noexcept {
  std::erase_if(waiting_, [this](const LoadedImage& image) { return unload(image); });
}

std::size_t UnloadQueue::waiting() const noexcept {
  std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace kiln::jit
