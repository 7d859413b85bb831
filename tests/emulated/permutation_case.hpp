#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/permuter.hpp"
#include "kiln/target.hpp"
#include "permutation/bucketed.hpp"
#include "permutation/rows.hpp"
#include "permutation/staged.hpp"

namespace kiln::testing {

/// One launch of a permutation's kernel. Offsets are in elements, from an address that is aligned to 64 bytes.
struct PermutationLaunch {
  std::uint64_t rows = 1;
  unsigned x_offset = 0;
  unsigned y_offset = 0;
};

/// One kernel, and the launches that it is checked with.
struct PermutationCase {
  std::string kind;  ///< of map: for people
  std::vector<std::uint32_t> sources;
  std::uint64_t source_size = 0;
  PermuteShape shape;
  Target target;
  std::vector<PermutationLaunch> launches;
  std::optional<permutation::Staged> staged;      ///< this shape of tile, whatever would be chosen
  std::optional<permutation::Bucketed> bucketed;  ///< these segments
  /// What shape.ending's expression gives, by C++ on the host.
  std::function<double(double value, unsigned position)> ending;
  std::optional<permutation::RowStrategy> rows;  ///< this kernel, whatever would be chosen
};

/// What a case took: to be sure that the generator reaches what it should.
struct PermutationCoverage {
  std::string strategy;
  bool module_data = false;
  std::size_t launches = 0;
};

/// Case `number` of an endless, fixed sequence.
PermutationCase generate_permutation_case(std::uint64_t number);

/// Case `number` of one whose staged tiles have shapes that nobody would choose; or nothing, where none fits.
std::optional<PermutationCase> generate_staged_case(std::uint64_t number);

/// Case `number` of one whose rows are moved in two passes, over segments far smaller than any device needs, so that a
/// short row has many, with any lanes; or nothing, where the map cannot be.
std::optional<PermutationCase> generate_bucketed_case(std::uint64_t number);

/// Case `number` of one whose maps swap axes, turn them round, take a part of them, and are to be tiled; some cannot
/// be.
PermutationCase generate_tiled_case(std::uint64_t number);

/// Case `number` of one whose maps turn images from planes to pixels or back.
PermutationCase generate_channels_case(std::uint64_t number);

/// Case `number` of one whose rows are pitched, or in place, or neither, with a kernel for such rows that is often one
/// that nobody would choose.
PermutationCase generate_rows_case(std::uint64_t number);

/// Case `number` of one whose elements are changed on their way.
PermutationCase generate_ending_case(std::uint64_t number);

/// A launch list that takes the kernel's tiles, edges and misalignments in turn, for a kernel of this geometry.
std::vector<PermutationLaunch> launches_for(const PermutationCase& item, const PermuteGeometry& geometry);

/// Runs the kernel that plan_permute makes in the emulator and compares y, byte by byte, with the definition
/// y[o, j, i] = x[o, map[j], i], and the bytes around both buffers with what they were. By its steps and, where it has
/// one, by its relay. Tells what is wrong; `coverage` may be null.
std::optional<std::string> check_permutation(const PermutationCase& item, PermutationCoverage* coverage = nullptr);

/// The same for a kernel that was planned otherwise.
std::optional<std::string> check_request(const PermutationCase& item, const PermuteRequest& request);

/// A smaller case that `fails` too: fewer rows, aligned buffers, one element at a time, a shorter map. Tries at most
/// `tries` cases.
PermutationCase minimise(PermutationCase item, const std::function<bool(const PermutationCase&)>& fails,
                         int tries = 60);

/// A case as text, with the whole map if it is short.
std::string to_text(const PermutationCase& item);

}  // namespace kiln::testing
