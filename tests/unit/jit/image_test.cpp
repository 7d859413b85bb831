#include "jit/image.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace kiln::jit {
namespace {

struct Case {
  const char* target;
  int capability;
  bool runs;
};

TEST(RunsOn, FollowsTheRulesOfEachVariant) {
  const Case cases[] = {
      // A plain cubin: same major, minor not above the device's.
      {"sm_90", 90, true},
      {"sm_80", 86, true},
      {"sm_86", 80, false},
      {"sm_80", 90, false},
      {"sm_100", 103, true},
      {"sm_100", 120, false},
      {"sm_120", 100, false},
      // `a`: exactly that device.
      {"sm_90a", 90, true},
      {"sm_90a", 100, false},
      {"sm_100a", 103, false},
      {"sm_100a", 100, true},
      // `f`: the family, from that device on.
      {"sm_100f", 100, true},
      {"sm_100f", 103, true},
      {"sm_103f", 100, false},
      {"sm_100f", 110, false},
      {"sm_120f", 121, true},
      // PTX: any device not older.
      {"compute_75", 90, true},
      {"compute_90", 90, true},
      {"compute_100", 90, false},
      {"compute_90a", 90, true},
      {"compute_90a", 100, false},
      {"compute_100f", 103, true},
      {"compute_100f", 120, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(runs_on(Target::parse(c.target), c.capability), c.runs) << c.target << " on " << c.capability;
  }
}

/// A header, 100 bytes that section 1 claims, and two section headers.
std::vector<std::byte> make_elf() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof(header) + 100;
  header.e_shnum = 2;
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof(header);
  section.sh_size = 100;
  Elf64_Shdr zeroed{};
  zeroed.sh_type = SHT_NOBITS;
  zeroed.sh_size = 1 << 20;  // takes no space in the file
  std::vector<std::byte> image(sizeof(header) + 100 + 2 * sizeof(section));
  std::memcpy(image.data(), &header, sizeof(header));
  std::memcpy(image.data() + header.e_shoff, &section, sizeof(section));
  std::memcpy(image.data() + header.e_shoff + sizeof(section), &zeroed, sizeof(zeroed));
  return image;
}

TEST(IsWholeElf, AcceptsAWholeFile) { EXPECT_TRUE(is_whole_elf(make_elf())); }

TEST(IsWholeElf, RefusesEveryTruncation) {
  std::vector<std::byte> image = make_elf();
  for (std::size_t size = 0; size < image.size(); ++size) {
    EXPECT_FALSE(is_whole_elf(std::span(image).first(size))) << size;
  }
}

TEST(IsWholeElf, RefusesWhatIsNoElfOrOf32Bits) {
  std::vector<std::byte> image = make_elf();
  image[0] = std::byte{'M'};
  EXPECT_FALSE(is_whole_elf(image));
  image = make_elf();
  image[EI_CLASS] = std::byte{ELFCLASS32};
  EXPECT_FALSE(is_whole_elf(image));
}

TEST(IsWholeElf, RefusesTablesAndSectionsBeyondTheEnd) {
  for (std::uint64_t offset : {offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf64_Ehdr, e_phoff),
                               sizeof(Elf64_Ehdr) + 100 + offsetof(Elf64_Shdr, sh_offset),
                               sizeof(Elf64_Ehdr) + 100 + offsetof(Elf64_Shdr, sh_size)}) {
    for (std::uint64_t value : {std::uint64_t{1} << 20, ~std::uint64_t{0}, ~std::uint64_t{0} - 64}) {
      std::vector<std::byte> image = make_elf();
      std::memcpy(image.data() + offset, &value, sizeof(value));
      EXPECT_FALSE(is_whole_elf(image)) << offset << " " << value;
    }
  }
}

}  // namespace
}  // namespace kiln::jit
