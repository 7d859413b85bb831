#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "kiln/artifact.hpp"

namespace kiln::cache {

/// XXH3-128 in the order of its canonical form, high half first: how keys and checksums stand in a database.
using Digest = std::array<std::byte, 16>;

Digest to_digest(const Key& key) noexcept;
/// Absent unless `bytes` are 16.
std::optional<Key> to_key(std::span<const std::byte> bytes) noexcept;

/// The first and the last key whose text begins with `prefix` (0 to 32 hex digits, either case). Absent if it is no
/// such prefix.
std::optional<std::pair<Key, Key>> key_range(std::string_view prefix) noexcept;

/// XXH3-128 of everything added, each piece with its length.
class Hasher {
 public:
  Hasher();
  ~Hasher() = default;
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void add(std::string_view text) noexcept;
  void add(std::span<const std::byte> bytes) noexcept;
  void add(std::uint64_t number) noexcept;
  Digest digest() const noexcept;

 private:
  // Room for XXH3's state, whose type must not be named in a header. key.cpp checks size and alignment.
  alignas(64) std::array<std::byte, 576> state_;
};

}  // namespace kiln::cache
