#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kiln::jit {

/// The compiler library file as found on disk, not opened.
struct NvrtcFile {
  std::filesystem::path path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
};

struct NvrtcSearch {
  std::optional<NvrtcFile> found;      ///< the first that exists
  std::vector<std::string> looked_in;  ///< every place looked in up to there, in order
};

/// Where to look, in this order.
struct NvrtcPlaces {
  std::vector<std::filesystem::path> toolkits{};      ///< roots: CUDA_HOME, CUDA_PATH, /usr/local/cuda
  std::vector<std::filesystem::path> environments{};  ///< roots of Python's with PyPI wheels: VIRTUAL_ENV, CONDA_PREFIX
  std::vector<std::filesystem::path> configured{};  ///< given when Kiln was built: libraries, or `nvidia/` with wheels
  std::vector<std::filesystem::path> folders{};     ///< the loader's: LD_LIBRARY_PATH, the system's
};

/// This process's places, from its environment.
NvrtcPlaces nvrtc_places();
/// The first libnvrtc in `places`; the newest where a folder has several.
NvrtcSearch find_nvrtc_in(const NvrtcPlaces& places);

/// Finds libnvrtc by looking at files only: `explicit_file` and nothing else if it is given; else the CUDA toolkit
/// (CUDA_HOME, CUDA_PATH, /usr/local/cuda), PyPI wheels (VIRTUAL_ENV, CONDA_PREFIX, the folders given when Kiln was
/// built), then the loader's path. Costs a few stats when the first place has it.
NvrtcSearch find_nvrtc(const std::filesystem::path& explicit_file);

}  // namespace kiln::jit
