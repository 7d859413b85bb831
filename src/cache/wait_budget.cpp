#include "cache/wait_budget.hpp"

#include <algorithm>

namespace kiln::cache {

namespace {

using std::chrono::microseconds;

constexpr microseconds k_unbounded = microseconds::max();

// Constant-initialised. Of who sleeps, SQLite's VFS knows the thread only.
constinit thread_local microseconds left = k_unbounded;  // NOLINT(*-avoid-non-const-global-variables)

}  // namespace

WaitBudget::WaitBudget(microseconds budget) noexcept : outer_(left), own_(std::min(budget, left)) { left = own_; }

WaitBudget::~WaitBudget() { left = outer_ == k_unbounded ? k_unbounded : outer_ - (own_ - left); }

microseconds WaitBudget::take(microseconds asked) noexcept {
  if (left == k_unbounded) {
    return asked;
  }
  const microseconds granted = std::min(asked, left);
  left -= granted;
  return granted;
}

}  // namespace kiln::cache
