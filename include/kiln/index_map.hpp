#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/export.h"

namespace kiln {

/// M source positions in [0, N): output position j takes source `map[j]`. Positions may repeat and M may differ
/// from N. Immutable, cheap to copy, safe to use from any thread.
class KILN_EXPORT IndexMap {
 public:
  /// Throws Error{invalid_argument} for an empty map, or naming the first position whose index is negative or
  /// not below `source_size`, with the index and the bound. Sizes up to 2^32 - 1.
  IndexMap(std::span<const std::int64_t> sources, std::uint64_t source_size);
  IndexMap(std::span<const std::uint32_t> sources, std::uint64_t source_size);

  /// M, the number of output positions.
  std::uint64_t size() const noexcept;
  /// N, the number of source positions.
  std::uint64_t source_size() const noexcept;
  std::uint32_t operator[](std::uint64_t position) const noexcept { return sources()[position]; }
  std::span<const std::uint32_t> sources() const noexcept;
  /// XXH3-128 of (M, N, XXH3-128 of the sources), made once: high and low half.
  std::pair<std::uint64_t, std::uint64_t> digest() const noexcept;
  /// Every source is used exactly once.
  bool is_permutation() const noexcept;

  /// The map that applies `first`, then this: result[j] = first[(*this)[j]].
  /// Throws Error{invalid_argument} unless first.size() == source_size().
  IndexMap after(const IndexMap& first) const;

  /// Reads a JSON list, or numbers separated by blanks, commas or new lines. With `source_size` 0 the sources
  /// decide: largest + 1. Throws Error{file_unreadable} naming the file, or Error{invalid_argument} naming file, line
  /// and word.
  static IndexMap read(const std::filesystem::path& file, std::uint64_t source_size = 0);
  /// The same from text; `origin` names it in errors.
  static IndexMap parse(std::string_view text, std::string_view origin, std::uint64_t source_size = 0);

  friend KILN_EXPORT bool operator==(const IndexMap& a, const IndexMap& b) noexcept;

 protected:
  struct State;
  explicit IndexMap(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// An index map that is a bijection. Immutable, cheap to copy, safe to use from any thread.
class KILN_EXPORT Permutation : public IndexMap {
 public:
  /// Throws as IndexMap does, and for a repeated index naming it and the first two positions that have it.
  explicit Permutation(std::span<const std::int64_t> sources);
  explicit Permutation(const IndexMap& map);
  static Permutation identity(std::uint64_t size);

  Permutation inverse() const;
  /// Applies `first`, then this.
  Permutation after(const Permutation& first) const;
};

}  // namespace kiln
