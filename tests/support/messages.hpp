#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/log.hpp"

namespace kiln::test {

/// What was said through a log callback.
class Messages {
 public:
  LogCallback callback() {
    return [this](LogLevel, std::string_view message) {
      std::lock_guard lock(mutex_);
      all_.emplace_back(message);
    };
  }
  std::vector<std::string> all() {
    std::lock_guard lock(mutex_);
    return all_;
  }
  std::size_t count() { return all().size(); }
  std::size_t count_with(std::string_view part) {
    std::size_t count = 0;
    for (const std::string& message : all()) {
      count += message.find(part) != std::string::npos ? 1 : 0;
    }
    return count;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

}  // namespace kiln::test
