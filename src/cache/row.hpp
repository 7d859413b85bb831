#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/key.hpp"
#include "kiln/artifact.hpp"

/// Artifacts as they are stored. Pure functions of values; bytes from a database may be anything.
namespace kiln::cache {

class Decompressor;

/// One row of `artifacts`, its columns as stored: spec, PTX and image are zstd frames.
struct Row {
  std::int64_t id = 0;
  Digest key{};
  std::int64_t compiler = 0;
  std::string template_name;
  std::string target;
  std::string kind;
  std::string entry_names;
  std::int64_t image_bytes = 0;
  double compile_ms = 0.0;
  std::int64_t registers = 0;
  std::int64_t spill_bytes = 0;
  std::int64_t created = 0;
  std::int64_t last_used = 0;
  Digest checksum{};
  std::string entries;
  std::string log;
  std::vector<std::byte> spec;
  std::vector<std::byte> ptx;
  std::vector<std::byte> image;
};

/// major * 10^8 + minor * 10^5 + build: 13.0.88 is 1300000088. Absent when a part does not fit.
std::optional<std::int64_t> to_column(const Compiler& compiler) noexcept;
Compiler to_compiler(std::int64_t column) noexcept;

/// Absent when it is no target, or native.
std::optional<Target> to_target(std::string_view column);

std::string_view to_column(ImageKind kind) noexcept;
std::optional<ImageKind> to_image_kind(std::string_view column) noexcept;

/// One line a kernel: six decimal numbers (registers, spill bytes, shared bytes, local bytes, and the lengths of the
/// two texts), then the expression and the lowered name.
std::string to_column(const std::vector<EntryPoint>& entries);
/// Absent when malformed.
std::optional<std::vector<EntryPoint>> to_entries(std::string_view column);

/// XXH3-128 over every column but `id` and `last_used`.
Digest checksum_of(const Row& row) noexcept;

/// The row of an artifact, with checksum. Absent when the artifact cannot be stored: compiler numbers out of range,
/// target native, no image, a cubin that is no ELF file, or more than 250 MiB. `now` becomes `last_used`.
std::optional<Row> to_row(const Artifact& artifact, std::int64_t now);

/// The artifact of a row, or nothing if the row is damaged: wrong checksum, malformed column, image of the wrong size
/// or not an ELF file.
std::optional<Artifact> to_artifact(const Row& row, Decompressor& decompressor);
std::optional<Artifact> to_artifact(const Row& row);

}  // namespace kiln::cache
