#include "cache/layered_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "cache/schema.hpp"
#include "cache/store.hpp"
#include "cache_fixture.hpp"

namespace kiln::cache {
namespace {

using namespace testing;

class LayeredStoreTest : public ::testing::Test {
 protected:
  ServiceOptions options() {
    ServiceOptions options;
    options.cache_dir = folder_.path() / "cache";
    options.log = messages_.callback();
    return options;
  }
  std::filesystem::path database() const { return folder_.path() / "cache" / "kiln.db"; }
  std::filesystem::path pack() const { return folder_.path() / "a.kilnpack"; }
  void write_pack(const std::vector<Artifact>& artifacts, PackPolicy policy = PackPolicy::any) {
    PackWriter writer(pack(), policy);
    for (const Artifact& artifact : artifacts) {
      writer.put(artifact);
    }
    writer.finish();
  }

  TemporaryFolder folder_;
  Messages messages_;
};

TEST_F(LayeredStoreTest, WhatIsPutComesBackWhole) {
  LayeredStore store(options());
  Artifact artifact = sample_artifact(1);
  EXPECT_FALSE(get(store, artifact));
  ASSERT_TRUE(store.put(artifact));
  std::optional<Hit> hit = get(store, artifact);
  ASSERT_TRUE(hit);
  EXPECT_TRUE(same(hit->artifact, artifact));
  EXPECT_FALSE(hit->from_pack);
  EXPECT_EQ(hit->layer, "user");
  EXPECT_TRUE(messages_.all().empty());
}

TEST_F(LayeredStoreTest, AnotherStoreFindsIt) {
  Artifact artifact = sample_artifact(1);
  ASSERT_TRUE(LayeredStore(options()).put(artifact));
  LayeredStore store(options());
  std::optional<Hit> hit = get(store, artifact);
  ASSERT_TRUE(hit);
  EXPECT_TRUE(same(hit->artifact, artifact));
  EXPECT_EQ(stats_of(store).layers.at(0).hits, 1U);
}

TEST_F(LayeredStoreTest, NothingIsTouchedBeforeTheFirstPut) {
  LayeredStore store(options());
  EXPECT_FALSE(get(store, sample_artifact(1)));
  EXPECT_FALSE(store.contains(sample_artifact(1).key));
  EXPECT_EQ(store.clear(), 0U);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cache"));
  ASSERT_TRUE(store.put(sample_artifact(1)));
  struct stat status{};
  ASSERT_EQ(::stat(database().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  ASSERT_EQ(::stat(database().parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700U);
}

TEST_F(LayeredStoreTest, AFreshProcessThatOnlyHitsOpensNothingForWriting) {
  Artifact artifact = sample_artifact(1);
  ASSERT_TRUE(LayeredStore(options()).put(artifact));
  LayeredStore store(options());
  ASSERT_TRUE(get(store, artifact));
  EXPECT_FALSE(std::filesystem::exists(database().string() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(database().string() + "-shm"));
}

TEST_F(LayeredStoreTest, SeesWhatAnotherStoreHasOnlyInItsLog) {
  LayeredStore writer(options());
  LayeredStore reader(options());
  for (int i = 0; i < 5; ++i) {
    Artifact artifact = sample_artifact(i);
    EXPECT_FALSE(get(reader, artifact));
    ASSERT_TRUE(writer.put(artifact));
    EXPECT_TRUE(get(reader, artifact));
    EXPECT_TRUE(reader.contains(artifact.key));
  }
}

TEST_F(LayeredStoreTest, ReadOnlyReadsALiveLogAndMakesNoFile) {
  LayeredStore writer(options());
  ASSERT_TRUE(writer.put(sample_artifact(1)));
  ServiceOptions read_only = options();
  read_only.cache_mode = CacheMode::read_only;
  {
    LayeredStore reader(read_only);
    EXPECT_TRUE(get(reader, sample_artifact(1)));
    EXPECT_FALSE(reader.put(sample_artifact(2)));
    EXPECT_EQ(stats_of(reader).puts_lost, 1U);
    EXPECT_THROW(reader.clear(), StoreError);
  }
  EXPECT_TRUE(get(writer, sample_artifact(1)));
}

TEST_F(LayeredStoreTest, ReadOnlyMakesNothing) {
  ServiceOptions read_only = options();
  read_only.cache_mode = CacheMode::read_only;
  {
    LayeredStore reader(read_only);
    EXPECT_FALSE(get(reader, sample_artifact(1)));
    EXPECT_FALSE(reader.put(sample_artifact(1)));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cache"));
  }
  ASSERT_TRUE(LayeredStore(options()).put(sample_artifact(1)));
  LayeredStore reader(read_only);
  EXPECT_TRUE(get(reader, sample_artifact(1)));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_.path() / "cache")) {
    ++files;
  }
  EXPECT_EQ(files, 2U) << "the database, and the totals of the service that wrote it";
}

TEST_F(LayeredStoreTest, OffAndNoDirectoryAreMemoryOnly) {
  ServiceOptions off = options();
  off.cache_mode = CacheMode::off;
  LayeredStore store(off);
  EXPECT_FALSE(store.put(sample_artifact(1)));
  EXPECT_FALSE(get(store, sample_artifact(1)));
  EXPECT_TRUE(stats_of(store).layers.empty());
  ServiceOptions nowhere;
  LayeredStore memory_only(nowhere);
  EXPECT_FALSE(memory_only.put(sample_artifact(1)));
  EXPECT_FALSE(get(memory_only, sample_artifact(1)));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cache"));
}

TEST_F(LayeredStoreTest, ACollidingKeyIsAMiss) {
  LayeredStore store(options());
  Artifact artifact = sample_artifact(1);
  ASSERT_TRUE(store.put(artifact));
  EXPECT_FALSE(store.get(artifact.key, sample_artifact(2).spec, installed));
  EXPECT_TRUE(get(store, artifact));
  EXPECT_EQ(stats_of(store).corrupt_dropped, 0U);
}

TEST_F(LayeredStoreTest, TheInstalledCompilersRowIsTaken) {
  LayeredStore store(options());
  Artifact old = sample_artifact(1, {12, 9, 86});
  Artifact now = sample_artifact(1, k_compiler);
  old.created = now.created + 100;
  ASSERT_TRUE(store.put(old));
  EXPECT_FALSE(get(store, now));
  ASSERT_TRUE(store.put(now));
  EXPECT_EQ(get(store, now)->artifact.compiler, k_compiler);
  EXPECT_EQ(store.get(now.key, now.spec, none_installed)->artifact.compiler, old.compiler) << "the newest";
  store.drop(now);
  EXPECT_FALSE(get(store, now));
  EXPECT_TRUE(store.contains(now.key));
}

TEST_F(LayeredStoreTest, TheCompilerIsAskedForOnlyWhenItMatters) {
  write_pack({sample_artifact(1)});
  ServiceOptions with_pack = options();
  with_pack.packs = {pack()};
  LayeredStore store(with_pack);
  int asked = 0;
  auto ask = [&asked]() -> CompilerPolicy {
    ++asked;
    return k_compiler;
  };
  Artifact in_pack = sample_artifact(1);
  Artifact nowhere = sample_artifact(2);
  EXPECT_TRUE(store.get(in_pack.key, in_pack.spec, ask));
  EXPECT_FALSE(store.get(nowhere.key, nowhere.spec, ask));
  EXPECT_EQ(asked, 0);
  ASSERT_TRUE(store.put(nowhere));
  EXPECT_TRUE(store.get(nowhere.key, nowhere.spec, ask));
  EXPECT_EQ(asked, 1);
}

TEST_F(LayeredStoreTest, PacksComeFirst) {
  Artifact artifact = sample_artifact(1, {12, 9, 86});
  write_pack({artifact});
  ServiceOptions with_pack = options();
  with_pack.packs = {pack()};
  LayeredStore store(with_pack);
  ASSERT_TRUE(store.put(sample_artifact(1)));
  std::optional<Hit> hit = get(store, artifact);
  ASSERT_TRUE(hit);
  EXPECT_TRUE(hit->from_pack);
  EXPECT_EQ(hit->layer, "a.kilnpack");
  EXPECT_TRUE(same(hit->artifact, artifact)) << "a pack's policy is any";
}

TEST_F(LayeredStoreTest, APackWithPolicySameServesItsCompilerOnly) {
  write_pack({sample_artifact(1, {12, 9, 86})}, PackPolicy::same);
  ServiceOptions with_pack = options();
  with_pack.packs = {pack()};
  LayeredStore store(with_pack);
  Artifact artifact = sample_artifact(1);
  EXPECT_FALSE(get(store, artifact));
  EXPECT_TRUE(store.get(artifact.key, artifact.spec, none_installed));
}

TEST_F(LayeredStoreTest, ABrokenPackIsSkippedAndSaidOnce) {
  ASSERT_TRUE(LayeredStore(options()).put(sample_artifact(1)));
  write_pack({sample_artifact(1)});
  std::string whole = read_file(pack());
  for (const std::string& broken : {std::string(), std::string("no pack"), whole.substr(0, whole.size() - 512),
                                    whole.substr(0, 4096), read_file(database())}) {
    write_file(pack(), broken);
    ServiceOptions with_pack = options();
    with_pack.packs = {pack(), folder_.path() / "missing.kilnpack"};
    Messages said;
    with_pack.log = said.callback();
    LayeredStore store(with_pack);
    for (int i = 0; i < 3; ++i) {
      std::optional<Hit> hit = get(store, sample_artifact(1));
      ASSERT_TRUE(hit);
      EXPECT_EQ(hit->layer, "user");
    }
    EXPECT_EQ(said.count_with("a.kilnpack"), 1U);
    EXPECT_EQ(said.count_with("missing.kilnpack"), 1U);
    EXPECT_EQ(stats_of(store).degraded, 2U);
  }
}

TEST_F(LayeredStoreTest, APackWithoutItsIndexIsNoPack) {
  const std::filesystem::path file = folder_.path() / "forged.kilnpack";
  {
    Store pack(Database::open(file, Database::Access::build, std::chrono::milliseconds(0)));
    create_pack_schema(pack.database(), PackPolicy::any);
    pack.put(to_row(sample_artifact(0), 0).value());
  }
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  ServiceOptions packs;
  packs.packs = {file};
  {
    LayeredStore store(packs);
    ASSERT_TRUE(get(store, sample_artifact(0))) << "the pack is sound so far";
  }
  Database::open(file, Database::Access::build, std::chrono::milliseconds(0))
      .execute("ALTER TABLE artifacts RENAME TO old; CREATE TABLE artifacts AS SELECT * FROM old");
  LayeredStore store(packs);
  EXPECT_FALSE(get(store, sample_artifact(0)));
  EXPECT_EQ(stats_of(store).degraded, 1U);
}

TEST_F(LayeredStoreTest, RemembersACompilerByItsStamp) {
  LibraryStamp stamp{"/usr/lib/libnvrtc.so", 1, 2, 3, 4};
  LayeredStore store(options());
  EXPECT_FALSE(store.remembered_compiler(stamp));
  store.remember_compiler(stamp, k_compiler);
  EXPECT_FALSE(std::filesystem::exists(*options().cache_dir)) << "no cache is made for that alone";
  ASSERT_TRUE(store.put(sample_artifact(0)));
  store.remember_compiler(stamp, k_compiler);
  EXPECT_EQ(store.remembered_compiler(stamp), k_compiler);
  LibraryStamp touched = stamp;
  touched.mtime_ns = 5;
  EXPECT_FALSE(store.remembered_compiler(touched));
  LayeredStore another(options());
  EXPECT_EQ(another.remembered_compiler(stamp), k_compiler);
}

TEST_F(LayeredStoreTest, KnowsTheLongestOfATemplatesLastCompileTimes) {
  LayeredStore store(options());
  EXPECT_FALSE(store.recent_compile_ms("sample1.cu"));
  ASSERT_TRUE(store.put(sample_artifact(1)));
  EXPECT_EQ(store.recent_compile_ms("sample1.cu"), 22.5);
  EXPECT_FALSE(store.recent_compile_ms("sample2.cu"));
  Artifact slow = sample_artifact(8);
  slow.compile_ms = 3000.0;
  ASSERT_TRUE(store.put(slow));
  Artifact quick = sample_artifact(15);
  quick.compile_ms = 5.0;
  ASSERT_TRUE(store.put(quick));
  EXPECT_EQ(store.recent_compile_ms("sample1.cu"), 3000.0);
  for (int i = 0; i < 15; ++i) {
    quick = sample_artifact(22 + 7 * i);
    quick.compile_ms = 6.0;
    ASSERT_TRUE(store.put(quick));
  }
  EXPECT_EQ(store.recent_compile_ms("sample1.cu"), 6.0) << "what is long ago does not count";
}

TEST_F(LayeredStoreTest, ClearRemovesTheUserLayerOnly) {
  write_pack({sample_artifact(9)});
  ServiceOptions with_pack = options();
  with_pack.packs = {pack()};
  LayeredStore store(with_pack);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store.put(sample_artifact(i)));
  }
  EXPECT_EQ(store.clear(), 3U);
  EXPECT_FALSE(get(store, sample_artifact(1)));
  EXPECT_TRUE(get(store, sample_artifact(9)));
}

TEST_F(LayeredStoreTest, QueryFiltersSortsAndStops) {
  write_pack({sample_artifact(100)});
  ServiceOptions with_pack = options();
  with_pack.packs = {pack()};
  LayeredStore store(with_pack);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store.put(sample_artifact(i)));
  }
  auto entries_of = [&store](const Query& query) {
    std::vector<Entry> entries;
    store.query(query, [&entries](const Entry& entry) {
      entries.push_back(entry);
      return true;
    });
    return entries;
  };
  std::vector<Entry> all = entries_of({});
  ASSERT_EQ(all.size(), 21U);
  EXPECT_EQ(all[0].layer, "a.kilnpack");
  EXPECT_EQ(all[1].layer, "user");
  Query query;
  query.template_name = "sample3.cu";
  query.order = QueryOrder::created;
  std::vector<Entry> some = entries_of(query);
  ASSERT_EQ(some.size(), 3U) << "3, 10 and 17";
  EXPECT_GT(some[0].created, some[1].created);
  EXPECT_EQ(some[0].entry_names, "f, g<float>");
  EXPECT_EQ(some[0].registers, 40);
  EXPECT_EQ(some[0].spill_bytes, 16);
  EXPECT_EQ(some[0].image_bytes, 5004U);
  EXPECT_EQ(some[0].target.text(), "sm_90a");
  query = {};
  query.target = Target::cubin(80);
  EXPECT_TRUE(entries_of(query).empty());
  query = {};
  query.limit = 5;
  EXPECT_EQ(entries_of(query).size(), 5U);
  query = {};
  query.key_prefix = sample_artifact(4).key.text().substr(0, 12);
  ASSERT_EQ(entries_of(query).size(), 1U);
  EXPECT_EQ(entries_of(query)[0].key, sample_artifact(4).key);
  query.key_prefix = "not hex";
  EXPECT_TRUE(entries_of(query).empty());
  int seen = 0;
  store.query({}, [&seen](const Entry&) { return ++seen < 3; });
  EXPECT_EQ(seen, 3);
}

TEST_F(LayeredStoreTest, AQueryMayCallTheStore) {
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(1)));
  int seen = 0;
  store.query({}, [&](const Entry&) {
    ++seen;
    EXPECT_TRUE(get(store, sample_artifact(1)));
    return true;
  });
  EXPECT_EQ(seen, 1);
}

TEST_F(LayeredStoreTest, FindsByPrefix) {
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(1)));
  ASSERT_TRUE(store.put(sample_artifact(2)));
  EXPECT_EQ(store.find_by_prefix("").size(), 2U);
  std::vector<Artifact> found = store.find_by_prefix(sample_artifact(2).key.text());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(same(found[0], sample_artifact(2)));
  EXPECT_TRUE(store.find_by_prefix("xyz").empty());
}

TEST_F(LayeredStoreTest, ThePutStaysUnderTheCap) {
  ServiceOptions small = options();
  small.max_bytes = 512 << 10;
  LayeredStore store(small);
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(store.put(sample_artifact(i)));
  }
  Stats stats = stats_of(store);
  EXPECT_GT(stats.evicted, 0U);
  EXPECT_LE(stats.layers.at(0).bytes, small.max_bytes);
  EXPECT_TRUE(get(store, sample_artifact(399))) << "the newest stay";
}

TEST_F(LayeredStoreTest, NoPutWaitsForMoreThanABatchToBeEvicted) {
  constexpr int k_many = 400;
  {
    LayeredStore store(options());
    for (int i = 0; i < k_many; ++i) {
      ASSERT_TRUE(store.put(sample_artifact(i)));
    }
  }
  ServiceOptions full = options();
  full.max_bytes = std::filesystem::file_size(folder_.path() / "cache" / "kiln.db");
  LayeredStore store(full);
  std::vector<std::uint64_t> evicted;
  std::uint64_t before = 0;
  do {
    ASSERT_TRUE(store.put(sample_artifact(k_many + static_cast<int>(evicted.size()))));
    const Stats stats = stats_of(store);
    EXPECT_LE(stats.layers.at(0).bytes, full.max_bytes);
    evicted.push_back(stats.evicted - before);
    before = stats.evicted;
    ASSERT_LT(evicted.size(), 20U);
  } while (evicted.back() > 0);
  EXPECT_EQ(evicted.front(), 64U);
  EXPECT_GT(evicted.size(), 2U) << "the next puts go on with it";
  EXPECT_NEAR(static_cast<double>(before), 0.2 * k_many, 0.05 * k_many);
}

TEST_F(LayeredStoreTest, ManyThreadsPutAndGet) {
  LayeredStore store(options());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&store, &wrong, t] {
      for (int i = 0; i < 40; ++i) {
        Artifact artifact = sample_artifact((i + t) % 20);
        std::optional<Hit> hit = get(store, artifact);
        if (hit && !same(hit->artifact, artifact)) {
          ++wrong;
        }
        if (!hit && (!store.put(artifact) || !get(store, artifact))) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(stats_of(store).layers.at(0).entries, 20U);
}

}  // namespace
}  // namespace kiln::cache
