#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kiln/source.hpp"

namespace kiln::jit {

/// A log parted into what the assembler was asked to report for Kiln, and what is for the user.
struct SplitLog {
  std::string text;                            ///< the rest, unchanged; empty if nothing else was said
  std::map<std::string, std::int64_t> spills;  ///< spill stores + loads in bytes, by symbol
};

/// Takes the lines of `--ptxas-options=--verbose` out of `log`. Registers and memory are in the cubin, but spills are
/// told nowhere else.
SplitLog split_log(std::string_view log);

/// The last number of "Cuda compilation tools, release 13.0, V13.0.88" in a PTX's header; 0 if it is not there.
int build_of(std::string_view ptx) noexcept;

/// The source with line numbers as the log counts them: the generated headers and the main file, each from 1.
std::string numbered(const Source& source);

}  // namespace kiln::jit
