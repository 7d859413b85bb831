#include "cache/health.hpp"

namespace kiln::cache {

void Health::degrade(std::string trouble, Clock::time_point now, std::chrono::seconds left_out) {
  degraded_ = true;
  retry_at_ = now + left_out;
  if (trouble != last_said_) {
    messages_.push_back(trouble + "; it is left out for now");
    last_said_ = trouble;
  }
  trouble_ = std::move(trouble);
}

void Health::recovered() noexcept {
  degraded_ = false;
  trouble_.clear();
}

}  // namespace kiln::cache
