#include "support/fault_vfs.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "support/child_process.hpp"
#include "unit/cache/maintenance_fixture.hpp"

// Every I/O call of an operation fails in turn, in every way a call can fail. Whatever fails, the operation ends as it
// promises, nothing wrong is ever returned, and afterwards the cache is sound and can be written.
namespace kiln::cache {
namespace {

using test::Fault;
using test::Times;

constexpr std::uint64_t k_rows = 6;       // numbers 1 to 6 are in the cache before
constexpr std::uint64_t k_new_row = 100;  // is not
constexpr std::uint64_t k_too_many = 20000;

struct Operation {
  const char* name;
  bool keeps_rows;  ///< does not remove rows by itself
  std::function<void(const ServiceOptions&)> run;
};

/// What a look-up gives is what was put, or nothing.
void look_up(LayeredStore& store, std::uint64_t number) {
  const auto wanted = test::sample_artifact(number);
  const auto hit = store.get(wanted.key, wanted.spec, [&] { return wanted.compiler; });
  EXPECT_TRUE(!hit || test::same_artifact(hit->artifact, wanted)) << "a wrong artifact for number " << number;
}

void get_rows(const ServiceOptions& options) {
  LayeredStore store(options);
  look_up(store, 2);
  look_up(store, k_new_row);
  look_up(store, 3);
}

void put_row(const ServiceOptions& options) {
  LayeredStore store(options);
  look_up(store, k_new_row);
  store.put(test::sample_artifact(k_new_row));
  look_up(store, k_new_row);
}

void put_and_evict(const ServiceOptions& options) {
  ServiceOptions capped = options;
  capped.max_bytes = 60000;
  LayeredStore store(capped);
  store.put(test::sample_artifact(k_new_row));
  look_up(store, 6);
}

void trim_rows(const ServiceOptions& options) {
  try {
    trim(options, {.max_bytes = 50000});
  } catch (const StoreError&) {  // asked for by name: it may say that it failed
  }
}

void clear_rows(const ServiceOptions& options) {
  try {
    LayeredStore(options).clear();
  } catch (const StoreError&) {
  }
}

void verify_rows(const ServiceOptions& options) {
  try {
    verify(options);
  } catch (const StoreError&) {
  }
}

const Operation k_get{"get", true, get_rows};
const Operation k_put{"put", true, put_row};
const Operation k_evict{"put_and_evict", false, put_and_evict};
const Operation k_trim{"trim", false, trim_rows};
const Operation k_clear{"clear", false, clear_rows};
const Operation k_verify{"verify", true, verify_rows};

enum class Before { write_ahead_log, rollback_journal, no_cache };

const char* name_of(Before before) {
  switch (before) {
    case Before::write_ahead_log:
      return "wal";
    case Before::rollback_journal:
      return "rollback";
    case Before::no_cache:
      return "no_cache";
  }
  return "";
}

struct Case {
  const Operation* operation;
  Before before;
};

class FaultTest : public MaintenanceTest, public ::testing::WithParamInterface<Case> {
 protected:
  FaultTest() { options_.busy_wait = std::chrono::milliseconds(1); }

  void SetUp() override {
    if (GetParam().before == Before::no_cache) {
      return;
    }
    fill(k_rows);
    if (GetParam().before == Before::rollback_journal) {
      test::RawDatabase(database()).text("PRAGMA journal_mode = DELETE");
    }
    std::filesystem::copy(*options_.cache_dir, root_ / "before");
  }

  void restore() {
    std::filesystem::remove_all(*options_.cache_dir);
    if (GetParam().before != Before::no_cache) {
      std::filesystem::copy(root_ / "before", *options_.cache_dir);
      std::filesystem::permissions(*options_.cache_dir, std::filesystem::perms::owner_all);
    }
  }

  /// `loses_rows`: what happened may have cost entries that were there.
  void expect_sound(bool loses_rows) {
    LayeredStore store(options_);
    for (std::uint64_t number = 1; number <= k_rows; ++number) {
      const auto wanted = test::sample_artifact(number);
      const auto hit = store.get(wanted.key, wanted.spec, [&] { return wanted.compiler; });
      if (GetParam().before != Before::no_cache && !loses_rows) {
        EXPECT_TRUE(hit) << "row " << number << " is gone";
      }
      EXPECT_TRUE(!hit || test::same_artifact(hit->artifact, wanted));
    }
    look_up(store, k_new_row);
    EXPECT_TRUE(store.put(test::sample_artifact(k_new_row + 1)));
    const auto result = verify(options_);
    for (const auto& damage : result.damage) {
      ADD_FAILURE() << damage.problem;
    }
    EXPECT_GE(result.checked, 1u);
    EXPECT_EQ(test::RawDatabase(database()).integrity(), "ok");
  }

  std::uint64_t inject_everywhere(test::FaultVfs& vfs, Fault fault, Times times) {
    std::uint64_t total = 0;
    for (std::uint64_t call = 1; call < k_too_many; ++call) {
      SCOPED_TRACE(std::string(test::name_of(fault)) + (times == Times::once ? ", only" : ", from") + " call " +
                   std::to_string(call));
      restore();
      vfs.arm(fault, call, times);
      EXPECT_NO_THROW(GetParam().operation->run(options_));
      const auto injected = vfs.disarm();
      if (injected == 0) {
        return total;
      }
      total += injected;
      slept_us_ = std::max(slept_us_, vfs.slept_us());
      if (fault == Fault::early_end) {
        // SQLite takes what lies behind the end for zeros and may write them back: no later reader can tell that from
        // damage. Nothing wrong is ever returned, and a repair brings the cache back.
        EXPECT_NO_THROW(get_rows(options_));
        EXPECT_NO_THROW(verify(options_, true));
      }
      expect_sound(!GetParam().operation->keeps_rows || fault == Fault::early_end);
      if (HasFailure()) {
        return total;
      }
    }
    ADD_FAILURE() << "the operation never ended without a fault";
    return total;
  }

  std::uint64_t slept_us_ = 0;
};

TEST_P(FaultTest, EveryCallInTurn) {
  test::FaultVfs vfs;
  std::uint64_t total = 0;
  for (const Fault fault :
       {Fault::io_error, Fault::disk_full, Fault::short_read, Fault::early_end, Fault::short_write, Fault::no_lock}) {
    for (const Times times : {Times::once, Times::forever}) {
      total += inject_everywhere(vfs, fault, times);
    }
  }
  std::printf("[   FAULTS ] %s, %s: %llu injected, longest wait %llu ms\n", GetParam().operation->name,
              name_of(GetParam().before), static_cast<unsigned long long>(total),
              static_cast<unsigned long long>(slept_us_ / 1000));
  RecordProperty("faults", static_cast<int>(total));
  // Each attempt of the look-ups and puts, and each statement of the other operations, waits at most `busy_wait`: 1 ms.
  EXPECT_LE(slept_us_, 20 * 1000u);
  EXPECT_GT(total, 50u) << "the faults do not reach the code under test";
}

TEST_P(FaultTest, KilledAtEveryWrite) {
  std::uint64_t kills = 0;
  for (std::uint64_t call = 1; call < k_too_many; ++call) {
    SCOPED_TRACE("killed at write " + std::to_string(call));
    restore();
    LayeredStore reader(options_);  // has the cache open all the while
    look_up(reader, 2);
    test::ChildProcess child([&] {
      test::FaultVfs vfs;
      vfs.arm(Fault::kill, call, Times::once);
      GetParam().operation->run(options_);
      return 0;
    });
    const int status = child.wait();
    look_up(reader, 2);
    look_up(reader, k_new_row);
    if (status == 0) {
      break;
    }
    ASSERT_EQ(status, -SIGKILL);
    ++kills;
    expect_sound(!GetParam().operation->keeps_rows);
    if (HasFailure()) {
      break;
    }
  }
  std::printf("[   FAULTS ] %s, %s: %llu kills\n", GetParam().operation->name, name_of(GetParam().before),
              static_cast<unsigned long long>(kills));
  RecordProperty("kills", static_cast<int>(kills));
}

class RepairFaultTest : public MaintenanceTest {
 protected:
  RepairFaultTest() {
    options_.busy_wait = std::chrono::milliseconds(1);
    fill(k_rows);
    // Each row can be read, but the database has to be made anew.
    test::RawDatabase(database())
        .execute(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX by_last_used ON "
            "artifacts(created)' WHERE name = 'by_last_used'");
    std::filesystem::copy(*options_.cache_dir, root_ / "before");
  }

  void restore() {
    std::filesystem::remove_all(*options_.cache_dir);
    std::filesystem::copy(root_ / "before", *options_.cache_dir);
    std::filesystem::permissions(*options_.cache_dir, std::filesystem::perms::owner_all);
  }
  /// Why it failed; empty when it did not.
  std::string repair() {
    try {
      const auto result = verify(options_, true);
      EXPECT_FALSE(result.damage.empty());
      return {};
    } catch (const StoreError& error) {
      return error.what();
    }
  }
  bool has_all() const {
    for (std::uint64_t number = 1; number <= k_rows; ++number) {
      if (!has(number)) {
        return false;
      }
    }
    return true;
  }
};

TEST_F(RepairFaultTest, WhatAnEarlierOneRescuedIsNotTouched) {
  test::FaultVfs vfs;
  const std::string rescued = database().string() + ".rescued";
  bool kept = false;
  std::uint64_t injected = 1;
  for (std::uint64_t call = 1; injected > 0 && !kept && call < k_too_many; ++call) {
    restore();
    test::write_file(rescued, "earlier");
    vfs.arm(Fault::io_error, call, Times::forever);
    kept = repair().find("kiln import '" + rescued + "-2'") != std::string::npos;
    injected = vfs.disarm();
    ASSERT_EQ(test::read_file(rescued), "earlier");
  }
  ASSERT_TRUE(kept) << "no fault came between the old database and the new one";
  ASSERT_NO_THROW(import_cache(options_, {rescued + "-2"}));
  EXPECT_TRUE(has_all());
}

// The rows are where they were, or in the new database, or where the error says.
TEST_F(RepairFaultTest, NoCallThatFailsCostsARow) {
  test::FaultVfs vfs;
  std::uint64_t total = 0;
  std::uint64_t kept = 0;
  for (const Fault fault : {Fault::io_error, Fault::disk_full, Fault::no_lock}) {
    for (const Times times : {Times::once, Times::forever}) {
      std::uint64_t injected = 1;
      for (std::uint64_t call = 1; injected > 0 && call < k_too_many; ++call) {
        SCOPED_TRACE(std::string(test::name_of(fault)) + (times == Times::once ? ", only" : ", from") + " call " +
                     std::to_string(call));
        restore();
        vfs.arm(fault, call, times);
        const std::string trouble = repair();
        injected = vfs.disarm();
        total += injected;
        if (!has_all()) {
          const auto rescued = database().string() + ".rescued";
          ASSERT_NE(trouble.find("kiln import '" + rescued + "'"), std::string::npos) << trouble;
          ASSERT_NO_THROW(import_cache(options_, {rescued}));
          ASSERT_TRUE(has_all());
          ++kept;
        }
        if (injected == 0) {
          EXPECT_EQ(trouble, "");
          EXPECT_EQ(test::RawDatabase(database()).integrity(), "ok");
        }
      }
    }
  }
  std::printf("[   FAULTS ] repair: %llu injected, %llu imported\n", static_cast<unsigned long long>(total),
              static_cast<unsigned long long>(kept));
  EXPECT_GT(total, 50u) << "the faults do not reach the code under test";
  EXPECT_GT(kept, 0u) << "no fault came between the old database and the new one";
}

INSTANTIATE_TEST_SUITE_P(
    Cache, FaultTest,
    ::testing::Values(Case{&k_get, Before::write_ahead_log}, Case{&k_get, Before::rollback_journal},
                      Case{&k_put, Before::write_ahead_log}, Case{&k_put, Before::rollback_journal},
                      Case{&k_put, Before::no_cache}, Case{&k_evict, Before::write_ahead_log},
                      Case{&k_evict, Before::rollback_journal}, Case{&k_trim, Before::write_ahead_log},
                      Case{&k_trim, Before::rollback_journal}, Case{&k_clear, Before::write_ahead_log},
                      Case{&k_clear, Before::rollback_journal}, Case{&k_verify, Before::write_ahead_log},
                      Case{&k_verify, Before::rollback_journal}),
    [](const auto& test) { return std::string(test.param.operation->name) + "_" + name_of(test.param.before); });

}  // namespace
}  // namespace kiln::cache
