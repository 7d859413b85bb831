#include "permutation/tiled.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "permutation/factors.hpp"
#include "permutation/shared_banks.hpp"
#include "permutation/sizes.hpp"
#include "permutation/tile_axes.hpp"
#include "permutation/unit_type.hpp"

namespace kiln::permutation {

namespace {

constexpr unsigned k_threads = 256;

/// A piece of an axis of a tile.
struct Piece {
  std::size_t axis = 0;
  std::uint64_t extent = 1;
  std::uint64_t weight = 1;  ///< places along the axis that a step goes
  std::uint64_t shared = 0;  ///< bytes of shared memory that a step goes
};

/// Whole axes, in the order of x: that in which shared memory is laid out.
std::vector<Piece> pieces_of(const std::vector<Axis>& axes) {
  std::vector<Piece> pieces;
  for (const std::size_t number : source_order(axes)) {
    if (axes[number].extent > 1) {
      pieces.push_back({number, axes[number].extent, 1});
    }
  }
  if (pieces.empty()) {
    pieces.push_back({0, 1, 1});
  }
  return pieces;
}

/// With `padding` bytes behind each `segment` units, where that is an axis's end or a place along it that divides it.
std::optional<std::vector<Piece>> padded(const std::vector<Piece>& pieces, std::uint64_t segment, std::uint64_t padding,
                                         unsigned unit_bytes) {
  std::vector<Piece> result;
  std::uint64_t units = 1;
  bool found = segment == 1;
  const auto add = [&](Piece piece) {
    piece.shared = found ? units / segment * (segment * unit_bytes + padding) : units * unit_bytes;
    units *= piece.extent;
    result.push_back(piece);
  };
  for (const Piece& piece : pieces) {
    if (!found && units * piece.extent > segment) {
      const std::uint64_t front = segment / units;
      if (segment % units != 0 || piece.extent % front != 0) {
        return std::nullopt;
      }
      if (front > 1) {
        add({piece.axis, front, piece.weight});
      }
      found = true;
      add({piece.axis, piece.extent / front, piece.weight * front});
    } else {
      add(piece);
      found = found || units == segment;
    }
  }
  return result;
}

/// Neighbouring digits that are one.
void merge(std::vector<TileDigit>& digits) {
  std::vector<TileDigit> merged;
  for (const TileDigit& digit : digits) {
    if (!merged.empty()) {
      TileDigit& last = merged.back();
      const auto extent = static_cast<std::int64_t>(last.extent);
      if (digit.global == last.global * extent && digit.shared == last.shared * extent &&
          digit.edge_a == last.edge_a * extent && digit.edge_b == last.edge_b * extent) {
        last.extent *= digit.extent;
        continue;
      }
    }
    merged.push_back(digit);
  }
  digits = std::move(merged);
}

/// Makes both sides of a tile from its axes.
class Builder {
 public:
  Builder(const BlockMap& blocks, const Factors& factors, std::vector<Axis> axes, Runs runs)
      : blocks_(blocks), factors_(factors), axes_(std::move(axes)), runs_(runs) {
    for (std::size_t number = 0; number < axes_.size(); ++number) {
      if (axes_[number].has_edge()) {
        edges_.push_back(number);
      }
    }
  }

  Tiled build() {
    Tiled tiled;
    tiled.wraps = factors_.wraps;
    tiled.threads = k_threads;
    tiled.run_bytes = std::min(runs_.source, runs_.output) * blocks_.unit_bytes;
    add_outer(tiled);
    tiled.load.units = vector_units(blocks_.row_in_units(), runs_.source, /*output=*/false);
    tiled.store.units = vector_units(blocks_.row_out_units(), runs_.output, /*output=*/true);
    return laid_out(tiled);
  }

 private:
  /// With the padding for which the banks of shared memory are in each other's way the least.
  Tiled laid_out(const Tiled& tiled) const {
    const std::uint64_t bank = std::max<std::uint64_t>(k_bank_bytes, blocks_.unit_bytes);
    const std::uint64_t units = units_of(axes_);
    const std::vector<Piece> pieces = pieces_of(axes_);
    std::vector<std::uint64_t> segments{units};
    for (std::uint64_t segment = k_banks * k_bank_bytes / blocks_.unit_bytes; segment < units; segment *= 2) {
      segments.push_back(segment);
    }
    std::uint64_t end = 1;
    for (const Piece& piece : pieces) {
      segments.push_back(end *= piece.extent);
    }
    std::ranges::sort(segments);
    segments.erase(std::ranges::unique(segments).begin(), segments.end());
    std::optional<Tiled> best;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t segment : segments) {
      if (segment % tiled.load.units != 0) {
        continue;
      }
      for (const std::uint64_t padding : {std::uint64_t{0}, bank, 2 * bank}) {
        const auto candidate = padded(pieces, segment, padding, blocks_.unit_bytes);
        if (!candidate || (segment == units && padding > 0)) {
          continue;
        }
        Tiled laid = tiled;
        add_sides(*candidate, laid);
        if (padding > 0 && laid.shared_bytes > units * blocks_.unit_bytes * 5 / 4) {
          continue;
        }
        const std::uint64_t cycles =
            bank_cycles(laid.load, blocks_.unit_bytes, shared_piece_bytes(laid.load, blocks_.unit_bytes)) +
            bank_cycles(laid.store, blocks_.unit_bytes, blocks_.unit_bytes);
        if (cycles < least) {
          least = cycles;
          best = std::move(laid);
        }
      }
    }
    return *best;
  }

  void add_outer(Tiled& tiled) const {
    for (std::size_t number = 0; number < axes_.size(); ++number) {
      const Axis& axis = axes_[number];
      const auto extent = static_cast<std::int64_t>(axis.extent);
      if (axis.has_edge()) {
        TileEdge& edge = edges_.front() == number ? tiled.edge_a : tiled.edge_b;
        edge = {tiled.outer.size(), axis.extent, axis.digit.radix, scale(axis, false), scale(axis, true)};
      }
      if (!axis.is_whole()) {
        tiled.outer.push_back(
            {divide_up(axis.digit.radix, axis.extent), axis.digit.stride * extent, axis.output * axis.extent});
      }
    }
    if (tiled.outer.empty()) {
      tiled.outer.push_back({1, 0, 0});
    }
  }

  /// Along a run an edge is so many units away, so that a run stays one digit.
  std::uint64_t scale(const Axis& axis, bool output) const noexcept {
    return in_run(axis, output) ? step(axis, output) : 1;
  }
  static std::uint64_t step(const Axis& axis, bool output) noexcept { return output ? axis.output : axis.source(); }
  static bool in_run(const Axis& axis, bool output) noexcept {
    return output ? axis.in_output_run : axis.in_source_run;
  }

  /// How many units one vector takes: all vectors start on its boundaries, none reaches over an edge.
  unsigned vector_units(std::uint64_t row_units, std::uint64_t run, bool output) const noexcept {
    std::uint64_t units = std::gcd(k_vector_bytes / blocks_.unit_bytes, std::gcd(row_units, run));
    for (const Axis& axis : axes_) {
      const std::uint64_t one = step(axis, output);
      if (axis.extent > 1 && !in_run(axis, output)) {
        units = std::gcd(units, one);
      }
      if (!axis.is_whole()) {
        units = std::gcd(units, one * axis.extent);
      }
      if (axis.has_edge() && in_run(axis, output)) {
        units = std::gcd(units, one * axis.digit.radix);
      }
    }
    return static_cast<unsigned>(output ? units : std::gcd(units, first_loaded()));
  }

  std::uint64_t first_loaded() const noexcept {
    std::uint64_t unit = factors_.base;
    for (const Axis& axis : axes_) {
      if (axis.is_reversed()) {
        unit -= axis.source() * (axis.extent - 1);
      }
    }
    return unit;
  }

  std::int64_t edge_step(std::size_t which, const Piece& piece, bool output) const {
    if (which >= edges_.size()) {
      return 0;
    }
    const Axis& edge = axes_[edges_[which]];
    const Axis& axis = axes_[piece.axis];
    if (in_run(edge, output)) {
      // The edge's axis is the last of its run: whatever is in the run counts.
      return in_run(axis, output) ? static_cast<std::int64_t>(step(axis, output) * piece.weight) : 0;
    }
    return piece.axis == edges_[which] ? static_cast<std::int64_t>(piece.weight) : 0;
  }

  void add_sides(const std::vector<Piece>& pieces, Tiled& tiled) const {
    tiled.load.base = first_loaded();
    tiled.shared_bytes = blocks_.unit_bytes;
    std::vector<std::pair<std::uint64_t, TileDigit>> stored;
    for (const Piece& piece : pieces) {
      const Axis& axis = axes_[piece.axis];
      const auto shared = static_cast<std::int64_t>(piece.shared);
      const auto last = static_cast<std::int64_t>(piece.extent - 1);
      tiled.shared_bytes += static_cast<unsigned>(piece.shared * (piece.extent - 1));
      TileDigit load{piece.extent, static_cast<std::int64_t>(axis.source() * piece.weight), shared,
                     edge_step(0, piece, false), edge_step(1, piece, false)};
      TileDigit store{piece.extent, static_cast<std::int64_t>(axis.output * piece.weight), shared,
                      edge_step(0, piece, true), edge_step(1, piece, true)};
      if (axis.is_reversed()) {
        // x is loaded upwards, from the last place of the axis to its first.
        store.shared = -shared;
        tiled.store.base += static_cast<std::uint64_t>(shared * last);
        tiled.load.edge_a += load.edge_a * last;
        tiled.load.edge_b += load.edge_b * last;
        load.edge_a = -load.edge_a;
        load.edge_b = -load.edge_b;
      }
      tiled.load.digits.push_back(load);
      stored.emplace_back(axis.output * piece.weight, store);
    }
    std::ranges::stable_sort(stored, [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [output, digit] : stored) {
      tiled.store.digits.push_back(digit);
    }
    merge(tiled.load.digits);
    merge(tiled.store.digits);
  }

  const BlockMap& blocks_;
  const Factors& factors_;
  std::vector<Axis> axes_;
  Runs runs_;
  std::vector<std::size_t> edges_;
};

std::vector<std::int64_t> fields_of(const TileSide& side) {
  std::vector<std::int64_t> fields;
  for (const TileDigit& digit : side.digits) {
    for (const std::int64_t field :
         {static_cast<std::int64_t>(digit.extent), digit.global, digit.shared, digit.edge_a, digit.edge_b}) {
      fields.push_back(field);
    }
  }
  return fields;
}

std::vector<std::int64_t> fields_of(const TileEdge& edge) {
  std::vector<std::int64_t> fields;
  for (const std::uint64_t field : {edge.outer, edge.step, edge.size, edge.load_scale, edge.store_scale}) {
    fields.push_back(static_cast<std::int64_t>(field));
  }
  return fields;
}

}  // namespace

std::uint64_t Tiled::tiles() const noexcept {
  return std::accumulate(outer.begin(), outer.end(), std::uint64_t{1},
                         [](std::uint64_t tiles, const OuterDigit& digit) { return tiles * digit.count; });
}

std::optional<Tiled> find_tiled(const BlockMap& blocks) {
  const std::optional<Factors> factors = factor(blocks);
  if (!factors) {
    return std::nullopt;
  }
  std::vector<Axis> axes = axes_of(*factors);
  const Runs runs = choose_extents(axes, blocks.unit_bytes);
  if (std::min(runs.source, runs.output) * blocks.unit_bytes < k_sector_bytes) {
    return std::nullopt;
  }
  return Builder(blocks, *factors, std::move(axes), runs).build();
}

Values tiled_values(const Tiled& tiled, const BlockMap& blocks) {
  std::vector<std::int64_t> outer;
  for (const OuterDigit& digit : tiled.outer) {
    outer.push_back(static_cast<std::int64_t>(digit.count));
    outer.push_back(digit.source);
    outer.push_back(static_cast<std::int64_t>(digit.output));
  }
  const std::uint64_t longest = std::max(blocks.row_in_units(), blocks.row_out_units());
  // Half of what fits: a place is added to the one that a tile starts with.
  const bool is_short = longest <= std::uint64_t{std::numeric_limits<std::int32_t>::max()} / 2;
  Values values = unit_values(blocks);
  values.set("offset", TypeName{is_short ? "int" : "long long"})
      .set("row_out", blocks.row_out_units())
      .set("row_in", blocks.row_in_units())
      .set("tiles", tiled.tiles())
      .set("outer_digits", outer)
      .set("load_digits", fields_of(tiled.load))
      .set("load_base", tiled.load.base)
      .set("load_edges", std::vector<std::int64_t>{tiled.load.edge_a, tiled.load.edge_b})
      .set("load_units", tiled.load.units)
      .set("store_digits", fields_of(tiled.store))
      .set("store_base", tiled.store.base)
      .set("store_units", tiled.store.units)
      .set("edge_a", fields_of(tiled.edge_a))
      .set("edge_b", fields_of(tiled.edge_b))
      .set("wraps", tiled.wraps)
      .set("threads", tiled.threads);
  return values;
}

}  // namespace kiln::permutation
