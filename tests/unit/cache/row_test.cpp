#include "cache/row.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "cache/compression.hpp"
#include "cache_fixture.hpp"

namespace kiln::cache {
namespace {

using namespace testing;

TEST(Row, AnArtifactComesBack) {
  for (int i = 0; i < 8; ++i) {
    Artifact artifact = sample_artifact(i);
    std::optional<Row> row = to_row(artifact, 5);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->last_used, 5);
    EXPECT_EQ(row->entry_names, "f, g<float>");
    EXPECT_EQ(row->registers, 40);
    std::optional<Artifact> back = to_artifact(*row);
    ASSERT_TRUE(back);
    EXPECT_TRUE(same(*back, artifact));
  }
}

TEST(Row, EveryColumnThatMattersIsInTheChecksum) {
  Row row = to_row(sample_artifact(1), 5).value();
  const std::vector<std::function<void(Row&)>> changes{
      [](Row& r) { r.key[3] ^= std::byte{1}; },
      [](Row& r) { ++r.compiler; },
      [](Row& r) { r.template_name += 'x'; },
      [](Row& r) { r.target = "sm_80"; },
      [](Row& r) { r.kind = "ptx"; },
      [](Row& r) { r.entry_names[0] = 'q'; },
      [](Row& r) { ++r.image_bytes; },
      [](Row& r) { r.compile_ms += 1; },
      [](Row& r) { ++r.registers; },
      [](Row& r) { ++r.spill_bytes; },
      [](Row& r) { ++r.created; },
      [](Row& r) { r.entries[0] = '9'; },
      [](Row& r) { r.log += 'x'; },
      [](Row& r) { r.spec.back() ^= std::byte{1}; },
      [](Row& r) { r.ptx.back() ^= std::byte{1}; },
      [](Row& r) { r.image[r.image.size() / 2] ^= std::byte{1}; },
      [](Row& r) { r.checksum[0] ^= std::byte{1}; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Row changed = row;
    changes[i](changed);
    EXPECT_FALSE(to_artifact(changed)) << "change " << i;
  }
  Row used_later = row;
  ++used_later.last_used;
  ++used_later.id;
  EXPECT_TRUE(to_artifact(used_later));
}

/// Changed, and the checksum made to match: what a hand-made database can hold.
void expect_refused(const std::function<void(Row&)>& change) {
  Row row = to_row(sample_artifact(1), 5).value();
  change(row);
  row.checksum = checksum_of(row);
  EXPECT_FALSE(to_artifact(row));
}

std::vector<std::byte> packed(std::string_view text) { return compress(std::as_bytes(std::span(text))); }

TEST(Row, ForgedRowsAreRefused) {
  expect_refused([](Row& r) { r.target = "native"; });
  expect_refused([](Row& r) { r.target = "sm_"; });
  expect_refused([](Row& r) { r.kind = "fatbin"; });
  expect_refused([](Row& r) { r.entries = "1 2"; });
  expect_refused([](Row& r) { r.image_bytes = 7; });
  expect_refused([](Row& r) { r.image.clear(); });
  expect_refused([](Row& r) {
    r.image.clear();
    r.image_bytes = 0;
  });
  expect_refused([](Row& r) {
    r.image = packed("not an ELF file");
    r.image_bytes = 15;
  });
  expect_refused([](Row& r) { r.image.resize(r.image.size() / 2); });
  expect_refused([](Row& r) { r.spec = {std::byte{1}, std::byte{2}}; });
  expect_refused([](Row& r) { r.ptx.insert(r.ptx.end(), r.ptx.begin(), r.ptx.end()); });
  expect_refused([](Row& r) {
    const std::vector<std::byte> skipped{std::byte{0x50}, std::byte{0x2A}, std::byte{0x4D}, std::byte{0x18},
                                         std::byte{0},    std::byte{0},    std::byte{0},    std::byte{0}};
    r.ptx.insert(r.ptx.end(), skipped.begin(), skipped.end());
  });
}

TEST(Row, WhatCannotBeUsedIsNotStored) {
  auto refused = [](const std::function<void(Artifact&)>& change) {
    Artifact artifact = sample_artifact(1);
    change(artifact);
    return !to_row(artifact, 5);
  };
  EXPECT_TRUE(refused([](Artifact& a) { a.target = Target::native(); }));
  EXPECT_TRUE(refused([](Artifact& a) { a.image.clear(); }));
  EXPECT_TRUE(refused([](Artifact& a) { a.image[0] = std::byte{0}; }));
  EXPECT_TRUE(refused([](Artifact& a) { a.compiler.minor = 1000; }));
  EXPECT_TRUE(refused([](Artifact& a) { a.compiler.build = -1; }));
  EXPECT_FALSE(refused([](Artifact& a) { a.compile_ms = std::numeric_limits<double>::quiet_NaN(); }));
}

// Names are stored twice: in the column that people read, too.
TEST(Row, WhatIsTooLargeForADatabaseIsNotStored) {
  Artifact artifact = sample_artifact(1);
  artifact.entries.resize(1);
  artifact.entries[0].expression.assign(std::size_t{126} << 20, 'f');
  EXPECT_FALSE(to_row(artifact, 5));
  artifact.entries[0].expression.assign(std::size_t{1} << 20, 'f');
  EXPECT_TRUE(to_row(artifact, 5));
}

TEST(Row, CompilersAsNumbers) {
  EXPECT_EQ(to_column(Compiler{13, 0, 88}), 1300000088);
  EXPECT_EQ(to_compiler(1300000088), (Compiler{13, 0, 88}));
  EXPECT_EQ(to_compiler(to_column(Compiler{12, 999, 99999}).value()), (Compiler{12, 999, 99999}));
  EXPECT_EQ(to_compiler(-5), (Compiler{0, 0, 0}));
  to_compiler(std::numeric_limits<std::int64_t>::max());
}

TEST(Row, EntriesWithAnyNames) {
  std::vector<EntryPoint> entries{{"a b\n c", "", 1, 2, 3, 4}, {"", "x y", 0, 0, 0, 0}, {"3 1 2 ", "\n", -1, -2, 5, 6}};
  EXPECT_EQ(to_entries(to_column(entries)), entries);
  EXPECT_EQ(to_entries(""), std::vector<EntryPoint>());
  std::string column = to_column(entries);
  for (std::size_t size = 1; size < column.size(); ++size) {
    std::optional<std::vector<EntryPoint>> part = to_entries(std::string_view(column).substr(0, size));
    EXPECT_TRUE(!part || part->size() < entries.size());
  }
  for (const char* bad : {"x", "1 1 1 1 1 1", "1 1 1 1 9999999999 1 a b\n", "1 1 1 1 1 1 a b", "1 1 1 1 1 1 ab\n",
                          "99999999999999999999 1 1 1 1 1 a b\n", "1 1 1 1 -1 1 a b\n"}) {
    EXPECT_FALSE(to_entries(bad)) << bad;
  }
}

TEST(Compression, BombsAreRefused) {
  // A frame's header that promises a terabyte.
  std::vector<std::byte> frame{std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F}, std::byte{0xFD}, std::byte{0xE0},
                               std::byte{0},    std::byte{0},    std::byte{0},    std::byte{0},    std::byte{0},
                               std::byte{1},    std::byte{0},    std::byte{0}};
  EXPECT_FALSE(Decompressor().bytes(frame));
  EXPECT_FALSE(Decompressor().bytes(std::vector<std::byte>(100)));
}

TEST(Compression, AnySpoiledFrameIsUnpackedOrRefused) {
  std::vector<std::byte> frame = packed(std::string(500, 'a') + "some text " + std::string(300, 'b'));
  Decompressor decompressor;
  for (std::size_t at = 0; at < frame.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> spoiled = frame;
      spoiled[at] ^= static_cast<std::byte>(1 << bit);
      std::optional<std::string> text = decompressor.text(spoiled);
      EXPECT_TRUE(!text || text->size() <= k_max_field_bytes);
    }
  }
  EXPECT_EQ(decompressor.text(frame)->size(), 810U);
}

}  // namespace
}  // namespace kiln::cache
