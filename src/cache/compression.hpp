#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kiln::cache {

/// No stored field is larger: what claims to be is damaged or hostile.
inline constexpr std::size_t k_max_field_bytes = std::size_t{256} << 20;

/// One zstd frame that holds its size. What does not shrink is stored within it as it is. Empty for nothing.
/// Throws std::length_error beyond k_max_field_bytes.
std::vector<std::byte> compress(std::span<const std::byte> bytes);

/// Takes zstd frames apart, from one working memory. Not thread-safe.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// Absent when `frame` is not exactly one sound frame. Never takes more memory than the frame's size says, nor than
  /// k_max_field_bytes.
  std::optional<std::vector<std::byte>> bytes(std::span<const std::byte> frame);
  std::optional<std::string> text(std::span<const std::byte> frame);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::cache
