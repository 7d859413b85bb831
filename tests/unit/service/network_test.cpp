// A home on a network file system: no write-ahead log there, and no locks of leases.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "kiln/doctor.hpp"
#include "service_fixture.hpp"
#include "support/raw_database.hpp"

namespace {

constexpr long k_nfs = 0x6969;

/// What every path under it is said to be on; none where it is empty.
std::string g_network_path;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

// The library's calls come here, since the program's symbols come before the C library's.
extern "C" int statfs(const char* path, struct statfs* out) noexcept {
  const long result = ::syscall(SYS_statfs, path, out);
  if (result == 0 && !g_network_path.empty() && std::string(path).starts_with(g_network_path)) {
    out->f_type = k_nfs;
  }
  return static_cast<int>(result);
}

namespace kiln::test {
namespace {

class OnNfs : public ServiceTest {
 protected:
  ~OnNfs() override { g_network_path.clear(); }
  void mount() { g_network_path = folder_.path().string(); }
  std::string journal() const { return RawDatabase(database()).text("PRAGMA journal_mode"); }
};

TEST_F(OnNfs, ARollbackJournalIsUsed) {
  mount();
  Service service(options());
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  EXPECT_EQ(service.stats().layers.at(0).journal, "delete");
  EXPECT_FALSE(std::filesystem::exists(beside("-wal")));
  EXPECT_FALSE(std::filesystem::exists(beside("-shm")));
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  EXPECT_EQ(journal(), "delete");
  EXPECT_EQ(messages_.count(), 0U);
}

TEST_F(OnNfs, ACacheMadeOnALocalDiskIsChangedOver) {
  ask_anew(1);
  ASSERT_EQ(journal(), "wal");
  mount();
  Service service(options());
  EXPECT_EQ(ask(service, 1).outcome, Outcome::disk);
  EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled);
  EXPECT_EQ(service.stats().layers.at(0).journal, "delete");
  EXPECT_EQ(journal(), "delete");
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  EXPECT_EQ(ask_anew(2), Outcome::disk);
}

TEST_F(OnNfs, ManyProcessesCompileEachKernelOnce) {
  mount();
  std::vector<ChildProcess> children;
  for (int i = 0; i < 8; ++i) {
    children.emplace_back([this, i] {
      Service service(options());
      for (int n = 0; n < 16; ++n) {
        if (ask(service, (n + 2 * i) % 16).artifact == nullptr) {
          return 1;
        }
      }
      return service.stats().puts_lost == 0 ? 0 : 2;
    });
  }
  for (ChildProcess& child : children) {
    EXPECT_EQ(child.wait(), 0);
  }
  EXPECT_EQ(nvrtc_.compiles(), 16U);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

TEST_F(OnNfs, DoctorSaysWhichJournalAndWhy) {
  const auto summary = [this] {
    for (const Finding& finding : diagnose(options())) {
      if (finding.name == "cache directory") {
        return finding.summary;
      }
    }
    return std::string();
  };
  EXPECT_NE(summary().find("write-ahead log"), std::string::npos) << summary();
  mount();
  EXPECT_NE(summary().find("nfs"), std::string::npos) << summary();
  EXPECT_NE(summary().find("rollback journal"), std::string::npos) << summary();
}

TEST_F(OnNfs, LeasesAreNeverTakenThere) {
  g_network_path = "/";
  Service service(options());
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled);
  EXPECT_EQ(messages_.count_with("lock"), 1U);
  EXPECT_EQ(ask_anew(1), Outcome::disk);
}

}  // namespace
}  // namespace kiln::test
