#include "permutation/bucketed_request.hpp"

#include <algorithm>
#include <utility>

#include "permutation/unit_type.hpp"

namespace kiln::permutation {

namespace {

// Bundles that a block does one after another, with the same table: measured best for rows of 16 and of 64 MB.
constexpr std::uint64_t k_bundles_in_turn = 4;
// Bundles of a group that are between the passes at a time. With more the L2 cache does not hold them.
constexpr unsigned k_ring = 2;

}  // namespace

PermuteRequest bucketed_request(const BlockMap& blocks, const Bucketed& bucketed) {
  const BucketedSizes sizes(blocks, bucketed);
  Values values = unit_values(blocks);
  values.set("row_out", blocks.row_out_units())
      .set("row_in", blocks.row_in_units())
      .set("lanes", bucketed.lanes)
      .set("source_segment", bucketed.source_segment)
      .set("target_segment", bucketed.target_segment)
      .set("out_vectors", bucketed.out_vectors)
      .set("in_vectors", bucketed.in_vectors)
      .set("threads", bucketed.threads)
      .set("batch", bucketed.batch)
      .set("resident", bucketed.resident);
  auto geometry = [&](unsigned shared_bytes, std::uint64_t segments) {
    return PermuteGeometry{.threads = bucketed.threads,
                           .shared_bytes = shared_bytes,
                           .work_per_row = segments,
                           .work_per_block = 1,
                           .rows_in_turn = k_bundles_in_turn,
                           .bundle_rows = bucketed.lanes};
  };
  PermuteRequest request{Template::builtin("permute_bucketed"),
                         std::move(values),
                         bucketed_table(blocks, bucketed),
                         "bucketed",
                         {},
                         {{geometry(sizes.out_shared_bytes, sizes.sources), true, false},
                          {geometry(sizes.in_shared_bytes, sizes.targets), false, true}},
                         sizes.scratch_bundle_bytes,
                         bucketed.lanes};
  if (bucketed.relay) {
    request.relay = PermuteRelay{bucketed.threads, std::max(sizes.out_shared_bytes, sizes.in_shared_bytes),
                                 static_cast<unsigned>(sizes.sources + sizes.targets), k_ring};
  }
  return request;
}

}  // namespace kiln::permutation
