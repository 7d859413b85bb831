// Compiles that fail: everyone who waited sees the log, and nothing is kept but the log, for this process.
#include <gtest/gtest.h>

#include <exception>
#include <thread>
#include <vector>

#include "service_fixture.hpp"

namespace kiln::test {
namespace {

class FailedCompile : public ServiceTest {
 protected:
  /// The log that a request for the broken kernel `n` ends with; empty if it does not fail.
  std::string log_of(const Service& service, int n) const {
    try {
      service.find_or_compile(broken_, {{"n", n}}, target_);
      return "";
    } catch (const CompileError& error) {
      return error.log();
    }
  }
  static bool is_whole(const std::string& log) { return log.find("broken.cu(4): error") != std::string::npos; }
  void expect_no_row() { EXPECT_TRUE(Service(options()).query(Query{}).empty()); }

  Template broken_ = broken_template();
};

TEST_F(FailedCompile, EveryThreadThatWaitedGetsTheLog) {
  constexpr std::size_t k_threads = 16;
  Service service(options());
  nvrtc_.hold();
  // The threads share one exception: it ends here, where all have read it.
  std::vector<std::exception_ptr> failures(k_threads);
  std::vector<std::thread> threads;
  for (std::exception_ptr& failure : failures) {
    threads.emplace_back([&, out = &failure] {
      try {
        service.find_or_compile(broken_, {{"n", 1}}, target_);
      } catch (...) {
        *out = std::current_exception();
      }
    });
  }
  EXPECT_TRUE(nvrtc_.begins(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  nvrtc_.release();
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::exception_ptr& failure : failures) {
    ASSERT_NE(failure, nullptr);
    try {
      std::rethrow_exception(failure);
    } catch (const CompileError& error) {
      EXPECT_TRUE(is_whole(error.log())) << error.log();
    }
  }
  EXPECT_EQ(nvrtc_.compiles(), 1U);
  EXPECT_EQ(service.stats().compile_failures, 1U);
  EXPECT_EQ(service.stats().puts + service.stats().puts_lost, 0U);
  expect_no_row();
}

TEST_F(FailedCompile, EveryProcessThatWaitedGetsTheLog) {
  constexpr std::size_t k_processes = 8;
  nvrtc_.hold();
  std::vector<ChildProcess> children;
  for (std::size_t i = 0; i < k_processes; ++i) {
    children.emplace_back([this] { return is_whole(log_of(Service(options()), 1)) ? 0 : 1; });
  }
  EXPECT_TRUE(nvrtc_.begins(1));
  nvrtc_.release();
  for (ChildProcess& child : children) {
    EXPECT_EQ(child.wait(), 0);
  }
  EXPECT_LE(nvrtc_.compiles(), k_processes);
  expect_no_row();
}

TEST_F(FailedCompile, IsRememberedByTheProcessUntilItIsCleared) {
  Service service(options());
  const std::string log = log_of(service, 1);
  EXPECT_TRUE(is_whole(log));
  EXPECT_EQ(log_of(service, 1), log);
  EXPECT_EQ(nvrtc_.compiles(), 1U);
  EXPECT_TRUE(is_whole(log_of(service, 2))) << "another request is another compile";
  EXPECT_EQ(nvrtc_.compiles(), 2U);
  service.clear();
  EXPECT_TRUE(is_whole(log_of(service, 1)));
  EXPECT_EQ(nvrtc_.compiles(), 3U);
  EXPECT_TRUE(is_whole(log_of(Service(options()), 1))) << "and not by the next process";
  EXPECT_EQ(nvrtc_.compiles(), 4U);
}

TEST_F(FailedCompile, LeavesTheServiceWorking) {
  Service service(options());
  EXPECT_TRUE(is_whole(log_of(service, 1)));
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  EXPECT_EQ(ask_anew(1), Outcome::disk);
}

TEST_F(FailedCompile, ATimeWithoutACompilerIsNotRemembered) {
  const std::filesystem::path away = folder_ / "away.so";
  std::filesystem::rename(nvrtc_.library(), away);
  Service service(options());
  EXPECT_THROW(ask(service, 1), Error);
  std::filesystem::rename(away, nvrtc_.library());
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
}

}  // namespace
}  // namespace kiln::test
