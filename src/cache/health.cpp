#include "cache/health.hpp"

namespace kiln::cache {

void Health::degrade(std::string trouble, Clock::time_point now, std::chrono::milliseconds left_out) {
  degraded_ = true;
  retry_at_ = now + left_out;
  note_once(trouble, "; requests go on without it, and it is tried again later");
  trouble_ = std::move(trouble);
}

void Health::note_once(const std::string& trouble, const char* consequence) {
  if (trouble != last_said_) {
    messages_.push_back(trouble + consequence);
    last_said_ = trouble;
  }
}

void Health::recovered() noexcept {
  degraded_ = false;
  trouble_.clear();
}

}  // namespace kiln::cache
