#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <variant>

#include "kiln/error.hpp"
#include "kiln/permuter.hpp"
#include "permutation/analysis.hpp"
#include "permutation/bucketed_request.hpp"
#include "permutation/index_table.hpp"
#include "permutation/rows.hpp"
#include "permutation/sizes.hpp"
#include "permutation/strategy.hpp"
#include "permutation/unit_type.hpp"

namespace kiln {

namespace {

using permutation::BlockMap;
using permutation::Bucketed;
using permutation::Channels;
using permutation::Direct;
using permutation::DirectData;
using permutation::Rows;
using permutation::Staged;
using permutation::Tiled;

Values direct_values(const BlockMap& blocks, unsigned threads) {
  // A thread's place is counted from the row in which its block of threads starts.
  bool short_offsets = blocks.row_out_units() <= std::numeric_limits<std::uint32_t>::max() - threads;
  Values values = permutation::unit_values(blocks);
  values.set("offset", TypeName{short_offsets ? "unsigned int" : "unsigned long long"})
      .set("blocks_out", blocks.map.size())
      .set("blocks_in", blocks.map.source_size())
      .set("units_per_block", blocks.units)
      .set("threads", threads);
  return values;
}

PermuteGeometry direct_geometry(const BlockMap& blocks, unsigned threads) {
  return {threads, 0, blocks.row_out_units(), threads};
}

PermuteRequest request_for(const Direct& direct, const BlockMap& blocks) {
  Values values = direct_values(blocks, direct.threads);
  values.set("index_bits", direct.index_bits).set("table", permutation::pack_table(blocks.map, direct.index_bits));
  return {Template::builtin("permute_direct"),        std::move(values), {}, "direct", {},
          {{direct_geometry(blocks, direct.threads)}}};
}

PermuteRequest request_for(const DirectData& direct, const BlockMap& blocks) {
  std::span<const std::uint32_t> sources = blocks.map.sources();
  return {Template::builtin("permute_direct_data"),
          direct_values(blocks, direct.threads),
          {sources.begin(), sources.end()},
          "direct",
          {},
          {{direct_geometry(blocks, direct.threads)}}};
}

PermuteRequest request_for(const Staged& staged, const BlockMap& blocks) {
  return permutation::staged_request(staged, blocks);
}

PermuteRequest request_for(const Rows& rows, const BlockMap& blocks) {
  return permutation::rows_request(rows, permutation::dense_rows(blocks));
}

PermuteRequest request_for(const Channels& channels, const BlockMap& blocks) {
  const std::uint64_t block_pixels = channels.threads * permutation::k_vector_bytes / blocks.unit_bytes;
  return {Template::builtin("permute_channels"),
          permutation::channels_values(channels, blocks),
          {},
          "tiled",
          {},
          {{{channels.threads, permutation::shared_bytes(channels), channels.row_pixels(), block_pixels}}}};
}

PermuteRequest request_for(const Tiled& tiled, const BlockMap& blocks) {
  return {Template::builtin("permute_tiled"),
          permutation::tiled_values(tiled, blocks),
          {},
          "tiled",
          {},
          {{{tiled.threads, tiled.shared_bytes, tiled.tiles(), 1}}}};
}

PermuteRequest request_for(const Bucketed& bucketed, const BlockMap& blocks) {
  return permutation::bucketed_request(blocks, bucketed);
}

}  // namespace

LaunchConfig PermuteGeometry::launch(std::uint64_t rows) const noexcept {
  // More blocks than grid.x takes go on in grid.y. The kernels leave out what is too many, and start over where the
  // grid ends before the work does.
  constexpr std::uint64_t k_most_x = std::numeric_limits<std::int32_t>::max();
  constexpr std::uint64_t k_most_y = 65'535;
  // One row after another only where there is enough to do for every multiprocessor all the same.
  constexpr std::uint64_t k_busy_blocks = 1024;
  std::uint64_t bundles = rows / bundle_rows + (rows % bundle_rows == 0 ? 0 : 1);
  std::uint64_t turns = std::clamp(bundles * work_per_row / k_busy_blocks, std::uint64_t{1}, rows_in_turn);
  std::uint64_t work = (bundles / turns + (bundles % turns == 0 ? 0 : 1)) * work_per_row;
  std::uint64_t blocks = work / work_per_block + (work % work_per_block == 0 ? 0 : 1);
  blocks = permutation::round_up(blocks, block_multiple);
  std::uint64_t y = std::clamp((blocks + k_most_x - 1) / k_most_x, std::uint64_t{1}, k_most_y);
  LaunchConfig config;
  config.grid = {static_cast<unsigned>(std::min((blocks + y - 1) / y, k_most_x)), static_cast<unsigned>(y), 1};
  config.block = {threads, 1, 1};
  config.shared_bytes = shared_bytes;
  return config;
}

std::uint64_t PermuteRequest::scratch_bytes(std::uint64_t rows) const noexcept {
  return permutation::divide_up(rows, bundle_rows) * scratch_bundle_bytes;
}

ModuleData PermuteRequest::module_data() const {
  if (table.empty()) {
    return {};
  }
  return {"kiln_table", std::as_bytes(std::span(table))};
}

PermuteRequest plan_permute(const IndexMap& map, const PermuteShape& shape, const Target& target) {
  if (target.is_native()) {
    throw Error(
        ErrorCode::invalid_argument,
        "target is native: a permutation is planned for a named one; Service::resolve gives the current device's");
  }
  if (permutation::needs_rows(shape, permutation::row_bytes(map, shape))) {
    return permutation::plan_rows(map, shape, target);
  }
  BlockMap blocks = permutation::block_map(map, shape);
  permutation::Choice choice = permutation::choose(blocks, shape, target);
  PermuteRequest request =
      std::visit([&](const auto& strategy) { return request_for(strategy, blocks); }, choice.strategy);
  request.reason = std::move(choice.reason);
  request.candidates = std::move(choice.candidates);
  return request;
}

}  // namespace kiln
