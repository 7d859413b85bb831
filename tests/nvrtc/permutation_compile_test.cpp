#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "jit/nvrtc.hpp"
#include "jit/options.hpp"
#include "jit/toolchain.hpp"
#include "kiln/dtype.hpp"
#include "kiln/permuter.hpp"
#include "kiln/source.hpp"
#include "support/project_dir.hpp"

namespace kiln {
namespace {

using std::string_literals::operator""s;

const jit::Nvrtc& nvrtc() {
  static const std::shared_ptr<const jit::Nvrtc> opened =
      jit::Nvrtc::open(jit::find_nvrtc(ServiceOptions::from_environment().nvrtc));
  return *opened;
}

Artifact compile(const Source& source, const Target& target) {
  return nvrtc().compile(source, target, jit::compile_arguments(source, target));
}

/// One map and shape for each way a kernel can be instantiated.
struct Kind {
  std::string name;
  std::uint64_t size;
  PermuteShape shape;
  std::uint64_t columns = 0;  ///< the axes of x[size / columns][columns] are swapped, instead of a random map
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

IndexMap shuffled(std::uint64_t size) {
  std::vector<std::uint32_t> sources(size);
  std::iota(sources.begin(), sources.end(), 0U);
  std::shuffle(sources.begin(), sources.end(), std::mt19937(75));
  return {std::span<const std::uint32_t>(sources), size};
}

IndexMap swapped(std::uint64_t size, std::uint64_t columns) {
  std::vector<std::uint32_t> sources;
  for (std::uint64_t column = 0; column < columns; ++column) {
    for (std::uint64_t row = 0; row < size / columns; ++row) {
      sources.push_back(static_cast<std::uint32_t>(row * columns + column));
    }
  }
  return {std::span<const std::uint32_t>(sources), sources.size()};
}

std::vector<Kind> kinds() {
  std::vector<Kind> list;
  for (unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
    std::string suffix = "_" + std::to_string(bytes) + "_bytes";
    list.push_back({"staged_37" + suffix, 37, {.element_bytes = bytes, .inner = bytes == 16 ? 3U : 1U}});
    list.push_back({"staged_1200" + suffix, 1200, {.element_bytes = bytes}});
    list.push_back({"tiled" + suffix, 80'000, {.element_bytes = bytes, .strategy = PermuteStrategy::tiled}, 40});
    list.push_back({"tiled_odd" + suffix, 40'040, {.element_bytes = bytes, .strategy = PermuteStrategy::tiled}, 40});
    list.push_back({"direct_37" + suffix, 37, {.element_bytes = bytes, .typical_rows = 1}});
  }
  for (unsigned bytes : {1U, 2U, 4U}) {
    const PermuteShape shape{.element_bytes = bytes, .strategy = PermuteStrategy::tiled};
    const std::string suffix = "_" + std::to_string(bytes) + "_bytes";
    for (const std::uint64_t channels : {2U, 3U, 4U}) {
      const std::string of = "_of_" + std::to_string(channels) + suffix;
      list.push_back({"planes" + of, channels * 50'176, shape, 50'176});
      list.push_back({"pixels" + of, channels * 50'176, shape, channels});
    }
    list.push_back({"planes_odd" + suffix, std::uint64_t{3} * 51'529, shape, 51'529});
    list.push_back({"pixels_odd" + suffix, std::uint64_t{4} * 51'529, shape, 4});
  }
  list.push_back({"staged_one_row", 12'000, {.element_bytes = 4}});
  list.push_back({"staged_one_odd_row", 12'001, {.element_bytes = 4}});
  list.push_back({"staged_long_row", 50'001, {.element_bytes = 4}});
  list.push_back({"staged_long_wide_row", 11'001, {.element_bytes = 8}});
  list.push_back({"staged_no_vectors", 12'001, {.element_bytes = 1}});
  list.push_back({"direct_wide_blocks", 300, {.element_bytes = 2, .inner = 100, .strategy = PermuteStrategy::direct}});
  list.push_back({"direct_long_rows", 3, {.element_bytes = 4, .inner = std::uint64_t{1} << 33}});
  list.push_back({"direct_data", 70'000, {.element_bytes = 2, .typical_rows = 1}});
  for (unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
    std::string suffix = "_" + std::to_string(bytes) + "_bytes";
    list.push_back({"rows_37" + suffix, 37, {.element_bytes = bytes, .row_stride_in = 40, .row_stride_out = 41}});
  }
  list.push_back({"rows_wide_units_of_bytes", 37, {.element_bytes = 1, .inner = 16, .in_place = true}});
  list.push_back({"rows_wide_units_of_words", 37, {.element_bytes = 4, .inner = 16, .in_place = true}});
  list.push_back({"rows_dense", 37, {.element_bytes = 2, .in_place = true}});
  list.push_back({"rows_1200", 1200, {.element_bytes = 8, .row_stride_in = 1201}});
  list.push_back({"elements_of_halves", 37, {.element_bytes = 2, .typical_rows = 1, .row_stride_in = 40}});
  list.push_back({"elements_wide", 37, {.element_bytes = 16, .typical_rows = 1, .row_stride_in = 40}});
  constexpr const char* k_conversions[][2] = {{"f16", "f32"},  {"bf16", "f16"}, {"f32", "e4m3"}, {"f64", "bf16"},
                                              {"e4m3", "i16"}, {"u32", "e5m2"}, {"f32", "u8"},   {"u16", "f64"}};
  for (const auto& [from, to] : k_conversions) {
    PermuteShape shape{.element_bytes = dtype_bytes(from)};
    shape.ending = PermuteEnding{.from = from, .to = to, .expression = "fmaxf(value, 0.0f) * scale[position % 3]"};
    shape.ending->lists["scale"] = {1.0F, 2.0F, 0.5F};
    list.push_back({"ending_"s + from + "_to_" + to, 300, shape});
  }
  list.push_back({"ending_elements", 37, {.typical_rows = 1, .ending = PermuteEnding{.to = "f16"}}});
  list.push_back({"ending_data", 70'000, {.element_bytes = 1, .ending = PermuteEnding{.from = "e4m3", .to = "f16"}}});
  list.push_back({"rows_long", 16'001, {.element_bytes = 4, .row_stride_in = 16'004, .row_stride_out = 16'004}});
  list.push_back({"rows_long_odd", 12'001, {.element_bytes = 1, .row_stride_in = 12'003, .row_stride_out = 12'005}});
  list.push_back({"rows_or_elements_long", 50'001, {.element_bytes = 4, .row_stride_in = 50'004}});
  list.push_back({"rows_data", 70'000, {.element_bytes = 1, .row_stride_out = 70'001}});
  list.push_back({"elements_long_rows", 3, {.inner = std::uint64_t{1} << 33, .row_stride_in = std::uint64_t{1} << 35}});
  list.push_back({"bucketed_blocks_of_three", 100'000, {.element_bytes = 4, .inner = 3}});
  for (unsigned bytes : {1U, 2U, 4U, 8U}) {
    list.push_back({"bucketed_" + std::to_string(bytes) + "_bytes", 262'144, {.element_bytes = bytes}});
    list.push_back({"bucketed_odd_" + std::to_string(bytes) + "_bytes", 1'100'001, {.element_bytes = bytes}});
    list.push_back({"bucketed_relay_odd_" + std::to_string(bytes) + "_bytes", 262'147, {.element_bytes = bytes}});
  }
  return list;
}

class PermutationCompiles : public testing::TestWithParam<Kind> {};

TEST_P(PermutationCompiles, ForEveryArchitecture) {
  const Kind& kind = GetParam();
  const IndexMap map = kind.columns != 0 ? swapped(kind.size, kind.columns) : shuffled(kind.size);
  for (const Target& target : nvrtc().supported()) {
    if (target.suffix() != '\0' || target.capability() < 75) {
      continue;
    }
    PermuteRequest request = plan_permute(map, kind.shape, target);
    Artifact artifact = compile(instantiate(request.tmpl, request.values), target);
    ASSERT_EQ(artifact.entries.size(), request.tmpl.entries().size());
    EXPECT_EQ(artifact.log, "") << target.text();
    for (const EntryPoint& entry : artifact.entries) {
      EXPECT_EQ(entry.spill_bytes, 0) << entry.expression << " for " << target.text();
      EXPECT_LE(entry.registers * static_cast<int>(request.steps.front().geometry.threads), 65'536)
          << entry.expression << " for " << target.text();
    }
    const bool is_large = (kind.size > 16'384 && kind.columns == 0) ||
                          request.strategy == "bucketed";  // on targets with little shared memory
    EXPECT_EQ(request.module_data().symbol, is_large ? "kiln_table" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PermutationCompiles, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST(PermutationTarget, SuffixesAndPtxCompileToo) {
  for (const char* text : {"sm_90a", "compute_90"}) {
    Target target = Target::parse(text);
    PermuteRequest request = plan_permute(shuffled(36), {}, target);
    EXPECT_FALSE(compile(instantiate(request.tmpl, request.values), target).image.empty()) << text;
  }
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(PermutationSample, EachTemplateCompilesWithTheSampleOfValues) {
  const std::filesystem::path templates = test::project_dir() / "templates";
  for (const char* name : {"permute_bucketed", "permute_direct", "permute_direct_data", "permute_elements",
                           "permute_rows", "permute_staged", "permute_tiled", "permute_channels"}) {
    Template tmpl = Template::builtin(name);
    Source source;
    source.name = tmpl.name();
    source.text = tmpl.text();
    source.headers = tmpl.headers();
    for (const char* sample : {"kiln/values.h", "kiln/code/ending.h", "kiln/code/lists.h"}) {
      source.headers.push_back({sample, content_of(templates / sample)});
    }
    source.entries = tmpl.entries();
    EXPECT_EQ(compile(source, Target::cubin(80)).log, "") << name;
  }
}

}  // namespace
}  // namespace kiln
