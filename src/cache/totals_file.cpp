#include "cache/totals_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "support/unique_handle.hpp"

namespace kiln::cache {

namespace {

struct Counter {
  const char* name;
  std::uint64_t Totals::* value;
};

constexpr std::array k_counters{
    Counter{"hits", &Totals::hits},
    Counter{"misses", &Totals::misses},
    Counter{"compiles", &Totals::compiles},
    Counter{"compile_failures", &Totals::compile_failures},
    Counter{"puts", &Totals::puts},
    Counter{"puts_lost", &Totals::puts_lost},
    Counter{"corrupt_dropped", &Totals::corrupt_dropped},
    Counter{"evicted", &Totals::evicted},
    Counter{"degraded", &Totals::degraded},
    Counter{"lease_waits", &Totals::lease_waits},
    Counter{"lease_timeouts", &Totals::lease_timeouts},
};
constexpr std::size_t k_max_file_bytes = 4096;

// The lock is held for two system calls. Longer than this, and counting is not worth the wait.
constexpr int k_attempts = 20;
constexpr std::chrono::microseconds k_pause(250);

struct DescriptorTraits {
  using Type = int;
  static Type invalid() noexcept { return -1; }
  static void close(Type descriptor) noexcept {
    ::flock(descriptor, LOCK_UN);  // also where a child that was forked meanwhile has the descriptor
    ::close(descriptor);
  }
};
using Descriptor = support::UniqueHandle<DescriptorTraits>;

/// Released with the descriptor, or by the kernel.
bool lock(const Descriptor& file, int kind) noexcept {
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    if (::flock(file.get(), kind | LOCK_NB) == 0) {
      return true;
    }
    std::this_thread::sleep_for(k_pause);
  }
  return false;
}

/// O_NONBLOCK: a FIFO of that name must not block us.
Descriptor open(const std::filesystem::path& file, int flags) noexcept {
  Descriptor descriptor(::open(file.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  struct stat status{};
  const bool ours = descriptor && ::fstat(descriptor.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return ours ? std::move(descriptor) : Descriptor();
}

std::string read_all(const Descriptor& file) {
  std::string text(k_max_file_bytes, '\0');
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

}  // namespace

Totals sum(const Totals& a, const Totals& b) noexcept {
  Totals result;
  for (const Counter& counter : k_counters) {
    result.*counter.value = a.*counter.value + b.*counter.value;
  }
  return result;
}

Totals difference(const Totals& more, const Totals& less) noexcept {
  Totals result;
  for (const Counter& counter : k_counters) {
    result.*counter.value = more.*counter.value - less.*counter.value;
  }
  return result;
}

std::string to_text(const Totals& totals) {
  std::string text;
  for (const Counter& counter : k_counters) {
    std::array<char, 64> line{};
    std::snprintf(line.data(), line.size(), "%-16s %020llu\n", counter.name,
                  static_cast<unsigned long long>(totals.*counter.value));
    text += line.data();
  }
  return text;
}

Totals to_totals(std::string_view text) {
  Totals totals;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view name = line.substr(0, line.find(' '));
    const std::size_t begin = line.find_last_of(' ') + 1;
    for (const Counter& counter : k_counters) {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(line.data() + begin, line.data() + line.size(), value);
      if (name == counter.name && error == std::errc() && end == line.data() + line.size()) {
        totals.*counter.value = value;
      }
    }
  }
  return totals;
}

Totals read_totals(const std::filesystem::path& file) noexcept try {
  const Descriptor descriptor = open(file, O_RDONLY);
  if (!descriptor) {
    return {};
  }
  lock(descriptor, LOCK_SH);  // without it, an update may be seen half
  return to_totals(read_all(descriptor));
} catch (const std::exception&) {
  return {};  // short of memory
}

bool add_totals(const std::filesystem::path& file, const Totals& more) noexcept try {
  const Descriptor descriptor = open(file, O_RDWR | O_CREAT);
  if (!descriptor || !lock(descriptor, LOCK_EX)) {
    return false;
  }
  const std::string before = read_all(descriptor);
  if (before.empty() && ::fchmod(descriptor.get(), 0600) != 0) {  // just made, perhaps under a strict umask
    return false;
  }
  const std::string text = to_text(sum(to_totals(before), more));
  if (::pwrite(descriptor.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return false;
  }
  return before.size() <= text.size() || ::ftruncate(descriptor.get(), static_cast<off_t>(text.size())) == 0;
} catch (const std::exception&) {
  return false;  // short of memory
}

}  // namespace kiln::cache
