// Packs made ahead of time: on how many CPUs, and for which machines.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "kiln/plan.hpp"
#include "service_fixture.hpp"

namespace kiln::test {
namespace {

class Precompile : public ServiceTest {
 protected:
  Precompile() { nvrtc_.take(std::chrono::milliseconds(30)); }
  PrecompileResult make(unsigned jobs) const {
    Plan plan;
    for (int n = 0; n < 8; ++n) {
      plan.items.push_back({"sample " + std::to_string(n), sample_, {{"n", n}}, {}});
    }
    PrecompileOptions options;
    options.targets = targets_;
    options.output = folder_ / "made.kilnpack";
    options.nvrtc = nvrtc_.library();
    options.jobs = jobs;
    return precompile(plan, options);
  }
  static bool has_mapped(const std::string& name) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(name) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  std::vector<Target> targets_{Target::parse("sm_80"), Target::parse("sm_90a"), Target::parse("sm_100f")};
};

TEST_F(Precompile, UsesTheCpusOfItsAffinityUnlessToldOtherwise) {
  ChildProcess child([this] {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
      return 2;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) {
        CPU_SET(cpu, &one);
      }
    }
    return ::sched_setaffinity(0, sizeof(one), &one) == 0 && make(0).progress.compiled == 24 ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(nvrtc_.most_at_once(), 1);
  std::filesystem::remove(folder_ / "made.kilnpack");
  make(3);
  EXPECT_EQ(nvrtc_.most_at_once(), 3);
}

TEST_F(Precompile, GoesOnWithTheThreadsThatItCanHave) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can become a user that has no other threads";
  }
  constexpr uid_t k_other = 54328;
  ASSERT_EQ(::chown(folder_.path().c_str(), k_other, k_other), 0);
  std::filesystem::permissions(nvrtc_.folder() / "compiles", std::filesystem::perms(0666));
  for (const rlim_t threads : {rlim_t{1}, rlim_t{3}}) {
    ChildProcess child([&] {
      const rlimit limit{threads, threads};
      return ::setresuid(k_other, k_other, k_other) == 0 && ::setrlimit(RLIMIT_NPROC, &limit) == 0 &&
                     make(64).progress.compiled == 24
                 ? 0
                 : 1;
    });
    EXPECT_EQ(child.wait(), 0) << threads;
    std::filesystem::remove(folder_ / "made.kilnpack");
  }
}

TEST_F(Precompile, ForThreeArchitecturesNeedsNoDriverAndTheirMachinesNoCompiler) {
  const bool mapped_before = has_mapped("libcuda.so");  // by another test, when they run in one process
  EXPECT_EQ(make(2).progress.compiled, 24U);
  ServiceOptions strict;
  strict.packs = {folder_ / "made.kilnpack"};
  strict.strict = true;
  strict.nvrtc = folder_ / "nowhere.so";
  strict.log = messages_.callback();
  Service service(strict);
  for (const Target& target : targets_) {
    for (int n = 0; n < 8; ++n) {
      const Lookup found = service.find_or_compile(sample_, {{"n", n}}, target);
      EXPECT_EQ(found.outcome, Outcome::pack);
      EXPECT_EQ(found.artifact->target, target);
    }
  }
  EXPECT_EQ(service.stats().compiles, 0U);
  EXPECT_EQ(messages_.count(), 0U);
  EXPECT_EQ(has_mapped("libcuda.so"), mapped_before);
}

}  // namespace
}  // namespace kiln::test
