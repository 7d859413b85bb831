#include "jit/toolchain.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <sys/stat.h>

#include "core/environment.hpp"

namespace kiln::jit {

namespace {

namespace fs = std::filesystem;

std::optional<NvrtcFile> look_at(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  NvrtcFile file;
  file.path = path;
  file.device = static_cast<std::uint64_t>(status.st_dev);
  file.inode = static_cast<std::uint64_t>(status.st_ino);
  file.size = static_cast<std::uint64_t>(status.st_size);
  // Without sign: a time after the year 2262 may wrap around, since it is only compared for equality.
  file.mtime_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000U +
                                            static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
  return file;
}

constexpr std::string_view k_prefix = "libnvrtc.so";

/// The numbers of "libnvrtc.so.11.2": {11, 2}; absent for any other file, libnvrtc-builtins and libnvrtc.alt among
/// them.
std::optional<std::vector<int>> version_in(std::string_view name) {
  if (!name.starts_with(k_prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(k_prefix.size());
  std::vector<int> version;
  while (!name.empty()) {
    int number = 0;
    auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
    if (name.front() != '.' || error != std::errc()) {
      return std::nullopt;
    }
    version.push_back(number);
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  }
  return version;
}

/// The newest libnvrtc of a folder.
std::optional<fs::path> newest_in(const fs::path& folder) {
  std::optional<std::pair<std::vector<int>, fs::path>> best;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    auto version = version_in(file->path().filename().native());
    if (version && (!best || *version > best->first)) {
      best.emplace(std::move(*version), file->path());
    }
  }
  return best ? std::optional(std::move(best->second)) : std::nullopt;
}

std::vector<fs::path> split(std::string_view text, char separator) {
  std::vector<fs::path> parts;
  while (!text.empty()) {
    std::size_t end = text.find(separator);
    if (end != 0) {
      parts.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

/// Looks in one place after another until one has it.
class Search {
 public:
  bool found() const { return search_.found.has_value(); }
  NvrtcSearch take() { return std::move(search_); }

  void folder(const fs::path& folder) {
    if (found()) {
      return;
    }
    search_.looked_in.push_back((folder / "libnvrtc.so*").string());
    // The name without a version is a link to the toolkit's own; it spares reading the folder.
    search_.found = look_at(folder / k_prefix);
    if (!found()) {
      if (std::optional<fs::path> newest = newest_in(folder)) {
        search_.found = look_at(*newest);
      }
    }
  }

  void toolkit(const fs::path& root) {
    folder(root / "lib64");
    folder(root / "targets/x86_64-linux/lib");
  }

  /// A Python environment: `lib` for conda's own packages, `lib/python3*/site-packages/nvidia` for wheels.
  void environment(const fs::path& root) {
    if (found()) {
      return;
    }
    std::vector<fs::path> sites;
    std::error_code error;
    for (fs::directory_iterator entry(root / "lib", error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().filename().native().starts_with("python3")) {
        sites.push_back(entry->path() / "site-packages");
      }
    }
    if (sites.empty()) {
      search_.looked_in.push_back((root / "lib/python3*/site-packages/nvidia").string());
    }
    std::sort(sites.begin(), sites.end());
    for (const fs::path& site : sites) {
      wheels(site / "nvidia");
    }
    folder(root / "lib");
  }

  /// CUDA 13's wheels share a folder, older ones have one of their own.
  void wheels(const fs::path& nvidia) {
    folder(nvidia / "cu13/lib");
    folder(nvidia / "cuda_nvrtc/lib");
  }

 private:
  NvrtcSearch search_;
};

}  // namespace

NvrtcPlaces nvrtc_places() {
  NvrtcPlaces places;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (auto root = core::environment(variable)) {
      places.toolkits.emplace_back(*root);
    }
  }
  places.toolkits.emplace_back("/usr/local/cuda");
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (auto root = core::environment(variable)) {
      places.environments.emplace_back(*root);
    }
  }
  places.configured = split(KILN_NVRTC_DIRS, ':');
  places.folders = split(core::environment("LD_LIBRARY_PATH").value_or(""), ':');
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    places.folders.emplace_back(folder);
  }
  return places;
}

NvrtcSearch find_nvrtc_in(const NvrtcPlaces& places) {
  Search search;
  for (const fs::path& root : places.toolkits) {
    search.toolkit(root);
  }
  for (const fs::path& root : places.environments) {
    search.environment(root);
  }
  for (const fs::path& folder : places.configured) {
    search.folder(folder);
    search.wheels(folder / "nvidia");
  }
  for (const fs::path& folder : places.folders) {
    search.folder(folder);
  }
  return search.take();
}

NvrtcSearch find_nvrtc(const fs::path& explicit_file) {
  if (explicit_file.empty()) {
    return find_nvrtc_in(nvrtc_places());
  }
  NvrtcSearch search;
  search.looked_in.push_back(explicit_file.string());
  search.found = look_at(explicit_file);
  return search;
}

}  // namespace kiln::jit
