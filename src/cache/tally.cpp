#include "cache/tally.hpp"

#include <unistd.h>

#include <utility>

#include "cache/totals_file.hpp"
#include "cache/trust.hpp"
#include "cache/user_layer.hpp"

namespace kiln::cache {

Tally::Tally(const std::filesystem::path& directory, bool read_only, std::function<Totals()> counted,
             std::chrono::milliseconds interval)
    : database_(directory / k_database_name),
      read_only_(read_only),
      counted_(std::move(counted)),
      interval_(interval),
      due_((Clock::now() + interval).time_since_epoch().count()),
      process_(::getpid()),
      fork_guard_([this] { before_fork(); }, [this] { after_fork(); }) {}

Tally::~Tally() { write(); }

/// A child starts from nothing: what its parent counted, its parent writes.
void Tally::before_fork() {
  mutex_.lock();
  at_fork_ = counted_();
}

void Tally::after_fork() noexcept {
  if (::getpid() != process_) {
    process_ = ::getpid();
    written_ = at_fork_;
  }
  mutex_.unlock();
}

void Tally::write_if_due() noexcept {
  const Clock::time_point now = Clock::now();
  Clock::rep due = due_.load(std::memory_order_relaxed);
  const Clock::rep next = (now + interval_).time_since_epoch().count();
  if (now.time_since_epoch().count() >= due && due_.compare_exchange_strong(due, next, std::memory_order_relaxed)) {
    write();
  }
}

void Tally::write() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || read_only_) {
    return;
  }
  try {
    write_locked();
  } catch (const std::exception&) {
    // Short of memory: written another time.
  }
}

/// Beside the database. Empty unless there is one that may be used.
std::filesystem::path Tally::trusted_file() const {
  const Trust trust = trust_database(database_, Owner::caller, ::geteuid());
  return trust.trusted() ? trust.path.parent_path() / k_totals_name : std::filesystem::path();
}

/// On a read-only file system nothing is opened for writing.
void Tally::write_locked() {
  const Totals counted = counted_();
  const Totals more = difference(counted, written_);
  Totals requests = more;
  requests.degraded = 0;  // a look at a broken cache is no request
  if (requests == Totals{}) {
    return;
  }
  const std::filesystem::path file = trusted_file();
  if (!file.empty() && ::access(file.parent_path().c_str(), W_OK) == 0 && add_totals(file, more)) {
    written_ = counted;
  }
}

Totals Tally::totals() {
  const std::lock_guard lock(mutex_);
  const std::filesystem::path file = trusted_file();
  return sum(file.empty() ? Totals{} : read_totals(file), difference(counted_(), written_));
}

}  // namespace kiln::cache
