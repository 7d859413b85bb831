#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "permutation/ending.hpp"
#include "permutation/index_table.hpp"
#include "permutation/rows.hpp"
#include "permutation/sizes.hpp"
#include "permutation/unit_type.hpp"

namespace kiln::permutation {

namespace {

/// For each unit of a line of output, with what would be units between two rows, filled up to whole vectors: the unit
/// of the line of input that goes there.
std::vector<std::uint32_t> line_entries(const Rows& rows, const RowMap& map) {
  const BlockMap& blocks = map.blocks;
  const std::uint64_t stride_out = map.bytes.stride_out / map.output_bytes();
  const std::uint64_t stride_in = map.bytes.stride_in / blocks.unit_bytes;
  const std::uint64_t length = (rows.line_rows - 1) * stride_out + blocks.row_out_units();
  std::vector<std::uint32_t> entries(round_up(length, k_vector_bytes / map.output_bytes()));
  for (std::uint64_t row = 0; row < rows.line_rows; ++row) {
    std::uint64_t place = row * stride_out;
    for (const std::uint32_t source : blocks.map.sources()) {
      for (std::uint64_t unit = 0; unit < blocks.units; ++unit) {
        entries[place++] = static_cast<std::uint32_t>(row * stride_in + source * blocks.units + unit);
      }
    }
  }
  return entries;
}

}  // namespace

PermuteRequest rows_request(const Rows& rows, const RowMap& map) {
  Values values = unit_values(map.blocks);
  values.set("row_out", map.blocks.row_out_units())
      .set("row_in", map.blocks.row_in_units())
      .set("stride_out", map.bytes.stride_out)
      .set("stride_in", map.bytes.stride_in)
      .set("line_rows", rows.line_rows)
      .set("lanes", rows.lanes)
      .set("lane_lines", rows.lane_lines)
      .set("lane_distance", rows.lane_distance)
      .set("threads", rows.threads)
      .set("resident_threads", rows.resident_threads)
      .set("asynchronous", rows.asynchronous)
      .set("in_place", map.bytes.in_place);
  set_ending(values, map.what_is_done());
  PermuteGeometry geometry{rows.threads, static_cast<unsigned>(shared_bytes(rows, map)), 1,
                           std::uint64_t{rows.line_rows} * rows.lanes * rows.lane_lines};
  geometry.block_multiple = rows.lane_distance / rows.lane_lines;
  PermuteRequest request{
      template_for("permute_rows", map.what_is_done()), std::move(values), {}, "rows", {}, {{geometry}}};
  set_table(request, line_entries(rows, map), rows.index_bits);
  return request;
}

PermuteRequest elements_request(const Elements& elements, const RowMap& map) {
  const BlockMap& blocks = map.blocks;
  // A thread's place is counted from the row in which its block of threads starts.
  const bool short_offsets = blocks.row_out_units() <= std::numeric_limits<std::uint32_t>::max() - elements.threads;
  Values values = unit_values(blocks);
  values.set("offset", TypeName{short_offsets ? "unsigned int" : "unsigned long long"})
      .set("blocks_out", blocks.map.size())
      .set("units_per_block", blocks.units)
      .set("stride_out", map.bytes.stride_out)
      .set("stride_in", map.bytes.stride_in)
      .set("threads", elements.threads);
  set_ending(values, map.what_is_done());
  PermuteRequest request{template_for("permute_elements", map.what_is_done()),
                         std::move(values),
                         {},
                         "elements",
                         {},
                         {{{elements.threads, 0, blocks.row_out_units(), elements.threads}}}};
  set_table(request, blocks.map.sources(), elements.index_bits);
  return request;
}

PermuteRequest plan_rows(const IndexMap& map, const PermuteShape& shape, const Target& target) {
  const RowMap rows = row_map(map, shape);
  RowChoice choice = choose_for_rows(rows, shape, target);
  const Rows* whole = std::get_if<Rows>(&choice.strategy);
  PermuteRequest request =
      whole != nullptr ? rows_request(*whole, rows) : elements_request(std::get<Elements>(choice.strategy), rows);
  request.reason = std::move(choice.reason);
  return request;
}

}  // namespace kiln::permutation
