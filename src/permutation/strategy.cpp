#include "permutation/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <ranges>
#include <utility>

#include "kiln/error.hpp"
#include "permutation/cost.hpp"
#include "permutation/locality.hpp"
#include "permutation/sizes.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_most_literals = 65'536;  // what compiles in bounded time
constexpr std::uint64_t k_cached_row_bytes = 2 * 1024;
constexpr double k_near_by = 2.5;  // times the bytes of a row, read in whole sectors
constexpr unsigned k_direct_threads = 256;
// Strategies expected to be that near each other are as fast: expectations are no better.
constexpr double k_as_fast = 0.92;

std::string text_of(std::uint64_t number) { return std::to_string(number); }

/// "0.97"
std::string text_of_speed(double speed) {
  const auto hundredths = static_cast<std::uint64_t>(std::lround(100 * speed));
  const std::string rest = text_of(hundredths % 100);
  return text_of(hundredths / 100) + "." + (rest.size() == 1 ? "0" : "") + rest;
}

unsigned index_bits_for(std::uint64_t sources) noexcept { return sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32; }

/// A strategy, if it can move the map, with its cost; else why it cannot.
struct Option {
  PermuteStrategy name = PermuteStrategy::direct;
  std::optional<Strategy> strategy;
  Cost cost;
  std::string problem;
};

class Chooser {
 public:
  Chooser(const BlockMap& blocks, std::uint64_t typical_rows, unsigned limit)
      : blocks_(blocks),
        rows_(typical_rows),
        limit_(limit),
        block_bytes_(blocks.units * blocks.unit_bytes),
        row_in_bytes_(blocks.row_in_units() * blocks.unit_bytes) {
    add(PermuteStrategy::direct, direct(), {});
    add(PermuteStrategy::staged, choose_staged(blocks, limit), why_not_staged());
    if (const std::optional<Rows> rows = between_vectors()) {
      add(PermuteStrategy::rows, rows, {});
    }
    add(PermuteStrategy::tiled, tiled(), "the map does not swap axes, or leaves no runs of 32 bytes");
    add(PermuteStrategy::bucketed, find_bucketed(blocks, limit, typical_rows),
        "some part of the row is read by much more of the output than others, or a row of " + text_of(row_in_bytes_) +
            " bytes is in too many segments or too few");
  }

  Choice fastest() const {
    const Option* best = fastest_of(rows_);
    return chosen(*best, reason_for(*best));
  }

  Choice forced(PermuteStrategy name) const {
    const auto option = std::ranges::find(options_, name, &Option::name);
    if (option == options_.end() || !option->strategy) {
      const std::string problem = option == options_.end() ? "it is for other rows" : option->problem;
      throw Error(ErrorCode::invalid_argument, "strategy is " + std::string(strategy_name(name)) + ": " + problem +
                                                   "; direct moves any map, automatic chooses");
    }
    return chosen(*option, how(*option) + "; asked for");
  }

 private:
  template <typename Found>
  void add(PermuteStrategy name, Found found, std::string problem) {
    Option option{name, std::nullopt, {}, std::move(problem)};
    if (found) {
      option.strategy = *std::move(found);
      option.cost = cost_of(*option.strategy, blocks_, limit_);
    }
    options_.push_back(std::move(option));
  }

  std::optional<Strategy> direct() const {
    if (blocks_.map.size() > k_most_literals) {
      return DirectData{k_direct_threads};
    }
    return Direct{index_bits_for(blocks_.map.source_size()), k_direct_threads};
  }

  std::optional<Strategy> tiled() const {
    if (const std::optional<Channels> channels = find_channels(blocks_)) {
      return *channels;
    }
    return find_tiled(blocks_);
  }

  /// For rows of small units that start between two vectors, too long to make whole vectors of several: only there it
  /// is faster than staged.
  std::optional<Rows> between_vectors() const {
    const Option& staged = of(PermuteStrategy::staged);
    if (!staged.strategy || blocks_.unit_bytes > 2 ||
        std::get<Staged>(*staged.strategy).period_rows * blocks_.row_out_units() * blocks_.unit_bytes %
                k_vector_bytes ==
            0) {
      return std::nullopt;
    }
    const std::optional<Rows> rows = choose_rows(dense_rows(blocks_), limit_);
    return rows && rows->lanes > 1 ? rows : std::nullopt;
  }

  const Option& of(PermuteStrategy name) const { return *std::ranges::find(options_, name, &Option::name); }

  /// The first that is as fast as any: simple kernels come first.
  const Option* fastest_of(std::uint64_t rows) const {
    const auto speed = [&](const Option& option) { return option.strategy ? option.cost.speed(rows) : 0; };
    const double most = std::ranges::max(options_ | std::views::transform(speed));
    return &*std::ranges::find_if(options_, [&](const Option& option) { return speed(option) >= k_as_fast * most; });
  }

  Choice chosen(const Option& option, std::string reason) const {
    Choice choice{*option.strategy, std::move(reason), {}};
    for (const Option& each : options_) {
      if (each.strategy) {
        choice.candidates.push_back({each.name, each.cost.speed(rows_), each.cost.limit(rows_)});
      } else {
        choice.candidates.push_back({each.name, 0, each.problem});
      }
    }
    std::ranges::stable_sort(choice.candidates, std::ranges::greater(), &PermuteCandidate::speed);
    return choice;
  }

  /// How an option moves data, with its name.
  std::string how(const Option& option) const {
    struct Writer {
      const Chooser& chooser;
      std::string operator()(const Direct&) const { return "direct"; }
      std::string operator()(const DirectData&) const { return "direct, the table as module data"; }
      std::string operator()(const Staged& staged) const {
        return "staged: tiles of " + text_of(staged.rows_per_tile) + " rows of " + text_of(chooser.row_in_bytes_) +
               " bytes are read and written in 16-byte vectors and permuted in shared memory";
      }
      std::string operator()(const Rows& rows) const {
        return "rows: " + text_of(rows.lanes) + " rows of " + text_of(chooser.row_in_bytes_) +
               " bytes that start equally far from a 16-byte vector are permuted at a time in shared memory";
      }
      std::string operator()(const Channels& channels) const {
        return "tiled: the map takes images of " + text_of(channels.plane) + " pixels of " + text_of(channels.count) +
               " units from " + (channels.to_pixels ? "planes to pixels" : "pixels to planes") +
               ", so that units change places in registers and 16-byte vectors go through shared memory";
      }
      std::string operator()(const Tiled& tiled) const {
        return "tiled: the map swaps axes, so that parts of a row are read and written in runs of " +
               text_of(tiled.run_bytes) + " bytes at least";
      }
      std::string operator()(const Bucketed& bucketed) const {
        return "bucketed: rows of " + text_of(chooser.row_in_bytes_) +
               " bytes are moved in two passes over segments of " + text_of(bucketed.source_segment) + " units" +
               (bucketed.lanes == 1 ? "" : ", " + text_of(bucketed.lanes) + " rows at once");
      }
    };
    return std::visit(Writer{*this}, *option.strategy);
  }

  std::string reason_for(const Option& best) const {
    const Option& staged = of(PermuteStrategy::staged);
    switch (best.name) {
      case PermuteStrategy::direct:
        return how(best) + ": " + why_direct(best);
      case PermuteStrategy::staged:
      case PermuteStrategy::rows:
        return how(best);
      default:
        return how(best) + "; " +
               (staged.strategy ? "staging whole rows is expected to be limited by " + staged.cost.limit(rows_)
                                : why_not_staged());
    }
  }

  std::string why_not_staged() const {
    const std::uint64_t longest = std::max(blocks_.row_in_units(), blocks_.row_out_units());
    const std::uint64_t bytes = longest * blocks_.unit_bytes;
    return longest > k_most_literals && bytes <= limit_ ? "rows of " + text_of(longest) + " units need more than " +
                                                              text_of(k_most_literals) + " entries in a table"
                                                        : row_in_words(bytes, limit_) + " does not fit in the " +
                                                              text_of(limit_) + " bytes of shared memory of a block";
  }

  std::string why_direct(const Option& best) const {
    const Option& staged = of(PermuteStrategy::staged);
    if (rows_ != 0 && fastest_of(0) != &best) {
      return "launches of about " + rows_in_words(rows_) + " move " + text_of(rows_ * blocks_.row_out_units()) +
             " units, too few to make up for the latency of staging";
    }
    if (block_bytes_ >= 2 * k_sector_bytes) {
      return "blocks of " + text_of(block_bytes_) +
             " bytes move together, so that global memory is read in whole sectors";
    }
    if (block_bytes_ == k_vector_bytes && row_in_bytes_ <= k_cached_row_bytes) {
      return "blocks of 16 bytes in rows of " + text_of(row_in_bytes_) +
             " bytes: the two halves of a sector are used while it is cached";
    }
    if (staged.strategy && blocks_.map.size() < blocks_.map.source_size()) {
      return "the map takes " + text_of(blocks_.map.size()) + " of " + text_of(blocks_.map.source_size()) +
             " blocks of " + text_of(block_bytes_) + " bytes, so that staging whole rows reads more";
    }
    const double sectors = read_amplification(blocks_);
    if (!staged.strategy && sectors <= k_near_by) {
      return why_not_staged() +
             ", and neighbours are read from places so near each other that whole "
             "sectors are " +
             text_of(static_cast<std::uint64_t>(std::lround(100 * sectors))) + " % of the bytes";
    }
    if (!staged.strategy) {
      return why_not_staged();
    }
    return "expected at " + text_of_speed(best.cost.speed(rows_)) + " of a copy's speed, staging whole rows at " +
           text_of_speed(staged.cost.speed(rows_));
  }

  const BlockMap& blocks_;
  std::uint64_t rows_;
  unsigned limit_;
  std::uint64_t block_bytes_;
  std::uint64_t row_in_bytes_;
  std::vector<Option> options_;
};

}  // namespace

unsigned shared_bytes_limit(int capability) noexcept {
  switch (capability) {
    case 75:
      return 64 * 1024;
    case 80:
    case 87:
      return 163 * 1024;
    case 90:
    case 100:
    case 101:
    case 103:
    case 110:
      return 227 * 1024;
    default:  // 8.6, 8.9, 12.x; what is older or newer than all of these has no less
      return capability < 75 ? 48 * 1024 : 99 * 1024;
  }
}

Choice choose(const BlockMap& blocks, const PermuteShape& shape, const Target& target) {
  const Chooser chooser(blocks, shape.typical_rows, shared_bytes_limit(target.capability()));
  return shape.strategy == PermuteStrategy::automatic ? chooser.fastest() : chooser.forced(shape.strategy);
}

}  // namespace kiln::permutation
