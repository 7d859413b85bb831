#include "support/emulation_batch.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace kiln::testing {
namespace {

std::size_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? static_cast<std::size_t>(CPU_COUNT(&set)) : 1;
}

}  // namespace

Source source_of(std::string text, std::vector<std::string> entries, std::vector<Header> headers) {
  Source source;
  source.name = "test.cu";
  source.text = std::move(text);
  source.entries = std::move(entries);
  source.headers = std::move(headers);
  return source;
}

std::vector<BatchFailure> run_batch(std::size_t count,
                                    const std::function<std::optional<std::string>(std::size_t)>& run_case,
                                    std::size_t most) {
  std::vector<BatchFailure> failures;
  std::mutex mutex;  // guards `failures`
  std::atomic<std::size_t> next{0};
  std::atomic<bool> enough{false};
  const auto work = [&] {
    for (std::size_t number = next++; number < count && !enough; number = next++) {
      std::optional<std::string> message;
      try {
        message = run_case(number);
      } catch (const std::exception& error) {
        message = error.what();
      }
      if (message) {
        const std::scoped_lock lock(mutex);
        failures.push_back({number, *message});
        enough = failures.size() >= most;
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(usable_cpus(), count); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return failures;
}

std::string to_text(const std::vector<BatchFailure>& failures) {
  std::string text;
  for (const BatchFailure& failure : failures) {
    text += "case " + std::to_string(failure.number) + ": " + failure.message + "\n";
  }
  return text;
}

}  // namespace kiln::testing
