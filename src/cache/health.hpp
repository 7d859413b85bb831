#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace kiln::cache {

/// How long a layer is left out after an error before it is tried again.
inline constexpr std::chrono::seconds k_left_out{30};

/// Whether a layer can be used now. After an error it is left out for a while; each trouble is said once.
class Health {
 public:
  using Clock = std::chrono::steady_clock;

  /// False while left out.
  bool usable(Clock::time_point now) const noexcept { return !degraded_ || now >= retry_at_; }
  bool degraded() const noexcept { return degraded_; }
  const std::string& trouble() const noexcept { return trouble_; }

  void degrade(std::string trouble, Clock::time_point now, std::chrono::milliseconds left_out = k_left_out);
  void recovered() noexcept;
  /// Something worth a line that leaves the layer usable.
  void note(std::string message) { messages_.push_back(std::move(message)); }
  /// The same of something that goes on: said when it is not what was said last.
  void note_once(const std::string& trouble, const char* consequence);

  /// What is to be said, taken out of here: the log callback must not be called under a lock.
  std::vector<std::string> take_messages() noexcept { return std::exchange(messages_, {}); }
  /// Takes back what was to be said: the caller throws it, and once is enough. Trouble that comes later is said again.
  void leave_to_caller() noexcept {
    messages_.clear();
    last_said_.clear();
  }

 private:
  bool degraded_ = false;
  Clock::time_point retry_at_;
  std::string trouble_;
  std::string last_said_;
  std::vector<std::string> messages_;
};

}  // namespace kiln::cache
