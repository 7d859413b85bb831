#include "cache/quarantine.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <thread>

#include "cache/wait_budget.hpp"

namespace kiln::cache {

namespace {

constexpr std::chrono::milliseconds k_poll(2);

/// The first free name, else the one that was written longest ago.
std::filesystem::path place_for(const std::filesystem::path& file) {
  std::filesystem::path oldest;
  std::int64_t oldest_time = 0;
  for (int number = 1; number <= k_kept_databases; ++number) {
    std::filesystem::path place = place_aside(file, number);
    std::optional<FileState> state = state_of(place);
    if (!state) {
      return place;
    }
    if (oldest.empty() || state->mtime_ns < oldest_time) {
      oldest = place;
      oldest_time = state->mtime_ns;
    }
  }
  return oldest;
}

/// What lies beside a database goes first: a log left without its database would be taken for the next one's.
void move_companion(const std::filesystem::path& file, const std::filesystem::path& place, const char* suffix) {
  std::error_code error;
  std::filesystem::remove(beside(place, suffix), error);
  std::filesystem::rename(beside(file, suffix), beside(place, suffix), error);
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory, std::chrono::milliseconds wait) noexcept
    : descriptor_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  auto deadline = std::chrono::steady_clock::now() + std::min(wait, k_longest_wait);
  while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    bool held_by_another = errno == EWOULDBLOCK || errno == EINTR;
    if (!held_by_another || std::chrono::steady_clock::now() >= deadline) {
      return;
    }
    std::this_thread::sleep_for(k_poll);
  }
  held_ = descriptor_ >= 0;
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) {
    if (held_) {
      ::flock(descriptor_, LOCK_UN);  // also where a child that was forked meanwhile has the descriptor
    }
    ::close(descriptor_);
  }
}

std::filesystem::path place_aside(const std::filesystem::path& file, int number) {
  return beside(file, (".corrupt-" + std::to_string(number)).c_str());
}

bool move_aside(const std::filesystem::path& file, const FileIdentity& identity) noexcept try {
  std::optional<FileState> now = state_of(file);
  if (!now || now->identity != identity) {
    return true;
  }
  std::filesystem::path place = place_for(file);
  for (const char* suffix : k_beside_database) {
    move_companion(file, place, suffix);
  }
  std::error_code error;
  std::filesystem::rename(file, place, error);
  return !error;
} catch (const std::exception&) {
  return false;  // short of memory
}

}  // namespace kiln::cache
