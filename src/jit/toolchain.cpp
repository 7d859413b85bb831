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
  file.mtime_ns = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
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

  void file(const fs::path& path) {
    search_.looked_in.push_back(path.string());
    search_.found = look_at(path);
  }

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

  /// The folders of PyPI wheels below a Python environment: `lib/python3.*/site-packages/nvidia/*/lib`.
  void python(const fs::path& root) {
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

NvrtcSearch find_nvrtc(const fs::path& explicit_file) {
  Search search;
  if (!explicit_file.empty()) {
    search.file(explicit_file);
    return search.take();
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (auto root = core::environment(variable); root && !search.found()) {
      search.toolkit(*root);
    }
  }
  search.toolkit("/usr/local/cuda");
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    auto root = search.found() ? std::nullopt : core::environment(variable);
    if (root) {
      search.python(*root);
      search.folder(fs::path(*root) / "lib");
    }
  }
  for (const fs::path& dir : split(KILN_NVRTC_DIRS, ':')) {
    search.folder(dir);
    search.wheels(dir / "nvidia");
  }
  auto loader_path = search.found() ? std::nullopt : core::environment("LD_LIBRARY_PATH");
  for (const fs::path& dir : split(loader_path.value_or(""), ':')) {
    search.folder(dir);
  }
  for (const char* dir : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    search.folder(dir);
  }
  return search.take();
}

}  // namespace kiln::jit
