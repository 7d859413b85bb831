#include "cache/row_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "cache/compression.hpp"
#include "cache/spec.hpp"
#include "support/sample_artifact.hpp"

namespace kiln::cache {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::byte> compressed(std::string_view text) { return compress(std::as_bytes(std::span(text))); }

/// A row that an attacker made: changed, and its checksum made to match.
Row forged(const std::function<void(Row&)>& change, std::uint64_t number = 1) {
  Row row = to_row(test::sample_artifact(number), 0).value();
  change(row);
  row.checksum = checksum_of(row);
  return row;
}

Row with_image(const std::vector<std::byte>& image) {
  return forged([&](Row& row) {
    row.image = compress(image);
    row.image_bytes = static_cast<std::int64_t>(image.size());
  });
}

TEST(RowCheck, TakesASoundRow) {
  const auto artifact = test::sample_artifact(1);
  const auto checked = check_row(to_row(artifact, 0).value());
  EXPECT_THAT(checked.problem, IsEmpty());
  ASSERT_TRUE(checked.artifact);
  EXPECT_TRUE(test::same_artifact(*checked.artifact, artifact));
}

TEST(RowCheck, TakesPtx) {
  auto artifact = test::sample_artifact(1);
  artifact.kind = ImageKind::ptx;
  artifact.image.resize(artifact.ptx.size() + 1);
  std::memcpy(artifact.image.data(), artifact.ptx.c_str(), artifact.ptx.size() + 1);
  EXPECT_THAT(check_row(to_row(artifact, 0).value()).problem, IsEmpty());
}

TEST(RowCheck, FindsAChangeThatTheChecksumCovers) {
  Row row = to_row(test::sample_artifact(1), 0).value();
  row.image[row.image.size() / 2] ^= std::byte{1};
  EXPECT_THAT(check_row(row).problem, HasSubstr("checksum"));
  EXPECT_FALSE(check_row(row).artifact);
}

TEST(RowCheck, RefusesAForgedKey) {
  EXPECT_THAT(check_row(forged([](Row& row) { row.key[0] ^= std::byte{1}; })).problem, HasSubstr("hash of its spec"));
  // Another request's image under this request's key.
  const Row other = to_row(test::sample_artifact(2), 0).value();
  EXPECT_THAT(check_row(forged([&](Row& row) { row.spec = other.spec; })).problem, HasSubstr("hash of its spec"));
}

TEST(RowCheck, RefusesASpecThatIsNone) {
  const auto row = forged([](Row& r) {
    r.spec = compressed("not a spec");
    r.key = to_digest(key_of("not a spec"));
  });
  EXPECT_THAT(check_row(row).problem, HasSubstr("spec is malformed"));
}

TEST(RowCheck, RefusesATargetOrTemplateThatIsNotTheSpecs) {
  EXPECT_THAT(check_row(forged([](Row& row) { row.target = "sm_80"; })).problem, HasSubstr("target"));
  EXPECT_THAT(check_row(forged([](Row& row) { row.template_name = "other.cu"; })).problem, HasSubstr("template"));
}

TEST(RowCheck, RefusesMalformedColumns) {
  for (const auto& change : std::vector<std::function<void(Row&)>>{
           [](Row& row) { row.target = "nonsense"; }, [](Row& row) { row.kind = "exe"; },
           [](Row& row) { row.entries = "99 x"; }, [](Row& row) { row.image_bytes += 1; },
           [](Row& row) { row.image.resize(row.image.size() / 2); }, [](Row& row) { row.ptx = {std::byte{1}}; }}) {
    EXPECT_THAT(check_row(forged(change)).problem, HasSubstr("malformed"));
  }
}

TEST(RowCheck, RefusesAnImageThatIsNoCubin) {
  auto image = test::sample_image(1, 3000);
  image[18] = std::byte{62};  // a program for the CPU
  EXPECT_THAT(check_row(with_image(image)).problem, HasSubstr("CUDA ELF"));

  image = test::sample_image(1, 3000);
  image[4] = std::byte{1};  // 32 bits
  EXPECT_THAT(check_row(with_image(image)).problem, HasSubstr("CUDA ELF"));

  image = test::sample_image(1, 64);
  image.resize(63);
  EXPECT_THAT(check_row(with_image(image)).problem, HasSubstr("CUDA ELF"));
}

TEST(RowCheck, RefusesACubinWhoseSectionsLieOutside) {
  auto image = test::sample_image(1, 3000);
  const std::uint64_t offset = 2900;
  std::memcpy(image.data() + 40, &offset, sizeof(offset));
  image[58] = std::byte{64};  // bytes a section header
  image[60] = std::byte{1};
  EXPECT_THAT(check_row(with_image(image)).problem, IsEmpty());
  image[60] = std::byte{2};
  EXPECT_THAT(check_row(with_image(image)).problem, HasSubstr("CUDA ELF"));
  const std::uint64_t beyond = ~std::uint64_t{0} - 10;
  std::memcpy(image.data() + 40, &beyond, sizeof(beyond));
  EXPECT_THAT(check_row(with_image(image)).problem, HasSubstr("CUDA ELF"));
}

TEST(RowCheck, RefusesPtxThatIsNone) {
  for (const std::string_view text :
       {std::string_view("hello"), std::string_view(".version 9.0"), std::string_view(".version\0.target", 16)}) {
    auto artifact = test::sample_artifact(1);
    artifact.kind = ImageKind::ptx;
    const auto bytes = std::as_bytes(std::span(text));
    artifact.image.assign(bytes.begin(), bytes.end());
    EXPECT_THAT(check_row(to_row(artifact, 0).value()).problem, HasSubstr("not PTX")) << text;
  }
}

TEST(RowCheck, RefusesListedColumnsThatAreNotTheKernels) {
  EXPECT_THAT(check_row(forged([](Row& row) { row.entry_names = "harmless"; })).problem, HasSubstr("listed"));
  EXPECT_THAT(check_row(forged([](Row& row) { row.registers = 1; })).problem, HasSubstr("listed"));
  EXPECT_THAT(check_row(forged([](Row& row) { row.spill_bytes = 1; })).problem, HasSubstr("listed"));
}

}  // namespace
}  // namespace kiln::cache
