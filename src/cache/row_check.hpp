#pragma once

#include <optional>
#include <string>

#include "cache/row.hpp"
#include "kiln/artifact.hpp"

namespace kiln::cache {

/// What a row is worth when nothing about it is believed.
struct CheckedRow {
  std::optional<Artifact> artifact;  ///< absent when something is wrong
  std::string problem;               ///< then: what, as a sentence without a subject
};

/// Everything that can be told of a row by looking at it: its checksum, what `to_artifact` checks, that the key is the
/// hash of the spec, that target and template are the spec's, that the image is a CUDA ELF file or PTX of the row's
/// kind, and that the columns made from others are what they are made of. A look-up checks less: it compares the spec
/// with the one asked for. Pure.
CheckedRow check_row(const Row& row);

}  // namespace kiln::cache
