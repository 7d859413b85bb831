#include "jit/image.hpp"

#include <elf.h>

#include <cstring>

namespace kiln::jit {

namespace {

/// `count` items of `size` bytes at `offset` lie inside `total` bytes.
bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t size, std::uint64_t total) noexcept {
  return offset <= total && (size == 0 || count <= (total - offset) / size);
}

/// Images have no alignment of their own in memory.
template <typename T>
T read(std::span<const std::byte> image, std::uint64_t offset) noexcept {
  T value;
  std::memcpy(&value, image.data() + offset, sizeof(T));
  return value;
}

}  // namespace

bool runs_on(const Target& target, int capability) noexcept {
  int wanted = target.capability();
  bool same_major = wanted / 10 == capability / 10;
  switch (target.suffix()) {
    case 'a':
      return wanted == capability;
    case 'f':
      return same_major && wanted <= capability;
    default:
      return wanted <= capability && (same_major || target.kind() == Target::Kind::ptx);
  }
}

bool is_whole_elf(std::span<const std::byte> image) noexcept {
  if (image.size() < sizeof(Elf64_Ehdr) || std::memcmp(image.data(), ELFMAG, SELFMAG) != 0) {
    return false;
  }
  auto header = read<Elf64_Ehdr>(image, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      !fits(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), image.size()) ||
      !fits(header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr), image.size())) {
    return false;
  }
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    auto section = read<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS && !fits(section.sh_offset, section.sh_size, 1, image.size())) {
      return false;
    }
  }
  return true;
}

}  // namespace kiln::jit
