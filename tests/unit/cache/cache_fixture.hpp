#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cache/layered_store.hpp"
#include "cache/spec.hpp"
#include "kiln/artifact.hpp"
#include "kiln/error.hpp"
#include "kiln/service_options.hpp"
#include "support/messages.hpp"

namespace kiln::cache::testing {

/// A folder of its own that goes with the test. Mode 0700, as a cache directory has to be.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln_cache_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr Compiler k_compiler{13, 0, 88};

/// An artifact like real ones: a spec of a few KB, an ELF image, PTX, two kernels. Different for each number.
inline Artifact sample_artifact(int number, const Compiler& compiler = k_compiler) {
  Source source;
  source.name = "sample" + std::to_string(number % 7) + ".cu";
  source.text = "extern \"C\" __global__ void f() {}\n" + std::string(3000, static_cast<char>('a' + number % 26));
  source.literals = {{"n", std::to_string(number) + "u"}};
  source.entries = {"f", "g<float>"};
  Artifact artifact;
  artifact.target = Target::cubin(90, 'a');
  artifact.spec = make_spec(source, std::vector<std::string>{"--std=c++17"}, artifact.target);
  artifact.key = key_of(artifact.spec);
  artifact.template_name = source.name;
  artifact.compiler = compiler;
  std::string image =
      "\x7f"
      "ELF";
  std::uint32_t state = static_cast<std::uint32_t>(number) * 2654435761U + 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 1664525U + 1013904223U;
    image += i % 3 == 0 ? static_cast<char>(state >> 24) : '\0';
  }
  for (char c : image) {
    artifact.image.push_back(static_cast<std::byte>(c));
  }
  artifact.ptx = "// PTX " + std::to_string(number) + "\n" + std::string(1500, 'p');
  artifact.entries = {{"f", "f", 32, 0, 1024, 0}, {"g<float>", "_Z1gIfEvv", 40, 16, 0, 8}};
  artifact.log = number % 2 == 0 ? "" : "warning: unused variable\n";
  artifact.compile_ms = 21.5 + number;
  artifact.created = 1'700'000'000 + number;
  return artifact;
}

inline bool same(const Artifact& a, const Artifact& b) {
  return a.key == b.key && a.spec == b.spec && a.template_name == b.template_name && a.target == b.target &&
         a.compiler == b.compiler && a.kind == b.kind && a.image == b.image && a.ptx == b.ptx &&
         a.entries == b.entries && a.log == b.log && a.compile_ms == b.compile_ms && a.created == b.created;
}

using test::Messages;

inline CompilerPolicy installed() { return k_compiler; }
inline CompilerPolicy none_installed() { return std::nullopt; }

inline std::optional<Hit> get(LayeredStore& store, const Artifact& artifact) {
  return store.get(artifact.key, artifact.spec, installed);
}

inline Stats stats_of(LayeredStore& store) {
  Stats stats;
  store.fill(stats);
  return stats;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace kiln::cache::testing
