#include "cache/layer.hpp"

#include <chrono>

namespace kiln::cache {

std::int64_t now_in_seconds() noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Session::~Session() {
  std::vector<std::string> messages = health_.take_messages();
  lock_.unlock();
  if (log_) {
    for (const std::string& message : messages) {
      log_(LogLevel::warning, message);
    }
  }
}

}  // namespace kiln::cache
