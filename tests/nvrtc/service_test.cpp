#include "kiln/service.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace kiln {
namespace {

constexpr const char* k_scale = R"(// kiln: parameter factor: f32
// kiln: entry scale
#include "kiln/values.h"
__global__ void scale(float* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= kiln::factor;
}
)";

/// Nothing that this process has mapped has `name` in its path.
bool never_opened(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) {
      return false;
    }
  }
  return true;
}

/// Runs `work` in a child process; true if it returned true there.
template <typename Work>
bool in_child(Work work) {
  return test::ChildProcess([&] { return work() ? 0 : 1; }).wait() == 0;
}

class ServiceTest : public testing::Test {
 protected:
  ServiceOptions options() const {
    ServiceOptions options;
    options.cache_dir = directory_ / "cache";
    return options;
  }

  test::TempDir directory_;
  Template scale_ = Template::from_text("scale.cu", k_scale);
  Values values_{{"factor", 2.5}};
  Target target_ = Target::parse("sm_90");
};

// First in the file: the children inherit what this process has opened.
TEST_F(ServiceTest, AWarmProcessOpensNeitherCompilerNorDriver) {
  ASSERT_TRUE(never_opened("libnvrtc")) << "run this test in a process of its own, as CTest does";
  ASSERT_TRUE(
      in_child([&] { return Service(options()).find_or_compile(scale_, values_, target_).artifact != nullptr; }));
  EXPECT_TRUE(in_child([&] {
    return Service(options()).find_or_compile(scale_, values_, target_).outcome == Outcome::disk &&
           never_opened("libnvrtc") && never_opened("libcuda.so");
  }));
}

TEST_F(ServiceTest, CompilesOnceThenFindsInMemoryThenOnDisk) {
  Service service(options());
  Lookup first = service.find_or_compile(scale_, values_, target_);
  EXPECT_EQ(first.outcome, Outcome::compiled);
  EXPECT_EQ(first.artifact->entries.front().expression, "scale");
  EXPECT_EQ(service.find_or_compile(scale_, values_, target_).outcome, Outcome::memory);

  Service other(options());
  Lookup second = other.find_or_compile(scale_, values_, target_);
  EXPECT_EQ(second.outcome, Outcome::disk);
  EXPECT_EQ(second.artifact->image, first.artifact->image);
  EXPECT_EQ(second.artifact->entries, first.artifact->entries);
  EXPECT_EQ(second.artifact->ptx, first.artifact->ptx);
  Stats stats = other.stats();
  EXPECT_EQ(stats.hits, 1U);
  EXPECT_EQ(stats.misses, 0U);
  EXPECT_EQ(stats.compiles, 0U);
}

TEST_F(ServiceTest, EveryPartOfARequestMakesAKeyOfItsOwn) {
  Service service(options());
  TemplateOptions fast;
  fast.options = {"--use_fast_math"};
  std::vector<Key> keys = {
      service.key_of(scale_, values_, target_).first,
      service.key_of(scale_, {{"factor", 2.25}}, target_).first,
      service.key_of(scale_, values_, Target::parse("sm_90a")).first,
      service.key_of(scale_, values_, Target::parse("compute_90")).first,
      service.key_of(Template::from_text("scale.cu", k_scale, fast), values_, target_).first,
      service.key_of(Template::from_text("scale.cu", std::string(k_scale) + " "), values_, target_).first,
      service.key_of(Template::from_text("other.cu", k_scale), values_, target_).first,
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = i + 1; j < keys.size(); ++j) {
      EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
    }
  }
}

TEST_F(ServiceTest, MakingAServiceTouchesNothing) {
  ServiceOptions broken = options();
  broken.cache_dir = "/proc/cannot/be/made";
  broken.nvrtc = "/nonexistent/libnvrtc.so";
  EXPECT_NO_THROW(Service{broken});
  Service service(options());
  EXPECT_FALSE(std::filesystem::exists(directory_ / "cache"));
}

TEST_F(ServiceTest, ThreadsShareOneCompile) {
  Service service(options());
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  std::vector<Lookup> found(16);
  for (Lookup& lookup : found) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < 16) {
        std::this_thread::yield();
      }
      lookup = service.find_or_compile(scale_, values_, target_);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const Lookup& lookup : found) {
    ASSERT_NE(lookup.artifact, nullptr);
    EXPECT_EQ(lookup.artifact->image, found.front().artifact->image);
  }
  EXPECT_EQ(service.stats().compiles, 1U);
}

TEST_F(ServiceTest, ProcessesShareOneCompile) {
  int counts[2];
  ASSERT_EQ(pipe(counts), 0);
  std::vector<test::ChildProcess> children;
  for (int i = 0; i < 16; ++i) {
    children.emplace_back([&] {
      Service service(options());
      bool found = service.find_or_compile(scale_, values_, target_).artifact != nullptr;
      auto compiles = static_cast<char>(service.stats().compiles);
      return found && write(counts[1], &compiles, 1) == 1 ? 0 : 1;
    });
  }
  close(counts[1]);
  int compiles = 0;
  for (char count = 0; read(counts[0], &count, 1) == 1;) {
    compiles += count;
  }
  close(counts[0]);
  for (test::ChildProcess& child : children) {
    EXPECT_EQ(child.wait(), 0);
  }
  EXPECT_EQ(compiles, 1);
}

TEST_F(ServiceTest, AFailedCompileLeavesNoRowAndIsRememberedWithItsLog) {
  Service service(options());
  Template broken = Template::from_text("broken.cu", "// kiln: entry f\n__global__ void f() { undeclared(); }\n");
  std::string log;
  try {
    service.find_or_compile(broken, {}, target_);
    FAIL();
  } catch (const CompileError& error) {
    log = error.log();
    EXPECT_NE(log.find("broken.cu(2)"), std::string::npos) << log;
    EXPECT_NE(error.source().find("undeclared"), std::string::npos);
    EXPECT_FALSE(error.arguments().empty());
  }
  try {
    service.find_or_compile(broken, {}, target_);
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.log(), log);
  }
  Stats stats = service.stats();
  EXPECT_EQ(stats.compile_failures, 1U);
  EXPECT_EQ(stats.misses, 2U);
  EXPECT_TRUE(service.query(Query{}).empty());
}

TEST_F(ServiceTest, StrictModeCompilesNothingAndSaysWhatIsMissing) {
  ServiceOptions strict = options();
  strict.strict = true;
  Service service(strict);
  try {
    service.find_or_compile(scale_, values_, target_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::strict_miss);
    std::string message = error.what();
    EXPECT_NE(message.find("scale.cu"), std::string::npos) << message;
    EXPECT_NE(message.find("sm_90"), std::string::npos) << message;
  }
  EXPECT_EQ(service.stats().compiles, 0U);
}

TEST_F(ServiceTest, AMissWithoutACompilerListsThePlaces) {
  ServiceOptions hidden = options();
  hidden.nvrtc = "/nonexistent/libnvrtc.so.13";
  try {
    Service(hidden).find_or_compile(scale_, values_, target_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nvrtc_unavailable);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/libnvrtc.so.13"), std::string::npos) << error.what();
  }
}

TEST_F(ServiceTest, AHitNeedsNoCompiler) {
  Service(options()).find_or_compile(scale_, values_, target_);
  ServiceOptions hidden = options();
  hidden.nvrtc = "/nonexistent/libnvrtc.so.13";
  EXPECT_EQ(Service(hidden).find_or_compile(scale_, values_, target_).outcome, Outcome::disk);
}

TEST_F(ServiceTest, WithoutADirectoryItWorksFromMemory) {
  ServiceOptions memory;
  Service service(memory);
  EXPECT_EQ(service.find_or_compile(scale_, values_, target_).outcome, Outcome::compiled);
  EXPECT_EQ(service.find_or_compile(scale_, values_, target_).outcome, Outcome::memory);
}

TEST_F(ServiceTest, ACacheThatCannotBeWrittenStillGivesTheKernel) {
  std::ofstream(directory_ / "file") << "in the way";
  ServiceOptions blocked = options();
  blocked.cache_dir = directory_ / "file" / "cache";
  int warnings = 0;
  blocked.log = [&](LogLevel level, std::string_view) { warnings += level == LogLevel::warning ? 1 : 0; };
  Service service(blocked);
  EXPECT_EQ(service.find_or_compile(scale_, values_, target_).outcome, Outcome::compiled);
  EXPECT_EQ(service.find_or_compile(scale_, {{"factor", 3}}, target_).outcome, Outcome::compiled);
  EXPECT_EQ(service.stats().puts_lost, 2U);
  EXPECT_EQ(warnings, 1);
}

TEST_F(ServiceTest, UnknownTargetsAreRefusedWithTheSupportedOnes) {
  try {
    Service(options()).find_or_compile(scale_, values_, Target::parse("sm_42"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported_target);
    std::string message = error.what();
    EXPECT_NE(message.find("sm_42"), std::string::npos) << message;
    EXPECT_NE(message.find("sm_90a"), std::string::npos) << message;
  }
}

TEST_F(ServiceTest, ATargetNewerThanTheCompilerBecomesPtx) {
  Lookup found = Service(options()).find_or_compile(scale_, values_, Target::parse("sm_990"));
  EXPECT_EQ(found.artifact->kind, ImageKind::ptx);
  EXPECT_EQ(found.artifact->target, Target::parse("sm_990"));
}

TEST_F(ServiceTest, ExplainNamesTheFirstFieldThatDiffers) {
  Service service(options());
  service.find_or_compile(scale_, values_, target_);
  EXPECT_TRUE(service.explain(scale_, values_, target_).hit);
  EXPECT_EQ(service.explain(scale_, {{"factor", 3}}, target_).field, "value factor");
  EXPECT_EQ(service.explain(scale_, values_, Target::parse("sm_80")).field, "target");
  EXPECT_EQ(service.explain(Template::from_text("scale.cu", std::string(k_scale) + "\n"), values_, target_).field,
            "source");
  TemplateOptions fast;
  fast.options = {"--use_fast_math"};
  EXPECT_EQ(service.explain(Template::from_text("scale.cu", k_scale, fast), values_, target_).field, "option");
  Explanation none = service.explain(Template::from_text("new.cu", k_scale), values_, target_);
  EXPECT_FALSE(none.hit);
  EXPECT_FALSE(none.nearest);
}

TEST_F(ServiceTest, AChildOfForkWorksWithAStateOfItsOwn) {
  Service service(options());
  service.find_or_compile(scale_, values_, target_);
  EXPECT_TRUE(in_child([&] {
    Stats before = service.stats();
    return before.compiles == 0 && service.find_or_compile(scale_, values_, target_).outcome == Outcome::disk;
  }));
  EXPECT_EQ(service.find_or_compile(scale_, values_, target_).outcome, Outcome::memory);
}

TEST_F(ServiceTest, WithoutADriverGetSaysSo) {
  if (std::filesystem::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "this machine has a driver";
  }
  try {
    Service(options()).get(scale_, values_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::driver_unavailable);
  }
}

}  // namespace
}  // namespace kiln
