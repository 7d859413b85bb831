#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cache/spec.hpp"
#include "kiln/artifact.hpp"

namespace kiln::test {

/// Bytes that do not compress, after the header of a cubin without sections.
inline std::vector<std::byte> sample_image(std::uint64_t seed, std::size_t size) {
  std::vector<std::byte> image(std::max<std::size_t>(size, 64));
  for (auto& byte : image) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(seed >> 56);
  }
  std::fill_n(image.begin(), 64, std::byte{0});
  const unsigned char ident[]{0x7F, 'E', 'L', 'F', 2, 1, 1};
  std::memcpy(image.data(), ident, sizeof(ident));
  image[16] = std::byte{2};    // executable
  image[18] = std::byte{190};  // EM_CUDA
  return image;
}

/// A kernel as a compiler might have made it, sound in every respect that can be checked without a GPU. The same number
/// gives the same artifact; different numbers give different keys.
inline Artifact sample_artifact(std::uint64_t number, std::size_t image_bytes = 3000) {
  Source source;
  source.name = "sample.cu";
  source.text = "__global__ void sample(float* p) { p[0] = n; }";
  source.entries = {"sample"};
  source.literals = {{"n", std::to_string(number)}};
  Artifact artifact;
  artifact.target = Target::cubin(90);
  artifact.spec = cache::make_spec(source, std::vector<std::string>{"--std=c++17"}, artifact.target);
  artifact.key = cache::key_of(artifact.spec);
  artifact.template_name = source.name;
  artifact.compiler = {13, 0, 88};
  artifact.kind = ImageKind::cubin;
  artifact.image = sample_image(number, image_bytes);
  artifact.ptx = ".version 9.0\n.target sm_90\n// " + std::to_string(number) + "\n";
  artifact.entries = {{"sample", "_Z6samplePf", 12, 0, 0, 0}};
  artifact.compile_ms = 21.5;
  artifact.created = 1700000000;
  return artifact;
}

inline bool same_artifact(const Artifact& a, const Artifact& b) {
  return a.key == b.key && a.spec == b.spec && a.template_name == b.template_name && a.target == b.target &&
         a.compiler == b.compiler && a.kind == b.kind && a.image == b.image && a.ptx == b.ptx &&
         a.entries == b.entries && a.log == b.log && a.created == b.created;
}

}  // namespace kiln::test
