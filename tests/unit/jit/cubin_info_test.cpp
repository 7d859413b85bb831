#include "jit/cubin_info.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace kiln::jit {
namespace {

/// Builds an ELF as the header's comment describes it: symbol 1 is `kernel`.
class Image {
 public:
  std::vector<std::byte> make(std::uint32_t registers, std::uint32_t frame, std::uint64_t shared) {
    std::string names;
    auto name = [&](const char* text) {
      auto at = static_cast<std::uint32_t>(names.size());
      names += std::string(text) + '\0';
      return at;
    };
    std::uint32_t empty = name("");
    std::uint32_t strings = name(".strtab");
    std::uint32_t symbols = name(".symtab");
    std::uint32_t info = name(".nv.info");
    std::uint32_t memory = name(".nv.shared.kernel");
    std::uint32_t kernel = name("kernel");

    bytes_.assign(64, std::byte{0});
    std::uint64_t strings_at = append(names.data(), names.size());
    std::vector<char> table(48);
    std::memcpy(table.data() + 24, &kernel, 4);
    std::uint64_t symbols_at = append(table.data(), table.size());
    std::vector<std::uint32_t> attributes{0x00082F04, 1, registers, 0x00002A01, 0x00081104, 1, frame};
    std::uint64_t info_at = append(attributes.data(), attributes.size() * 4);

    std::uint64_t headers_at = bytes_.size();
    header(empty, 0, 0, 0, 0);
    header(strings, 3, strings_at, names.size(), 0);
    header(symbols, 2, symbols_at, table.size(), 1);
    header(info, 0x70000000, info_at, attributes.size() * 4, 2);
    header(memory, 8, bytes_.size(), shared, 0);
    std::memcpy(bytes_.data() + 0x28, &headers_at, 8);
    std::uint16_t count = 5;
    std::uint16_t names_section = 1;
    std::memcpy(bytes_.data() + 0x3C, &count, 2);
    std::memcpy(bytes_.data() + 0x3E, &names_section, 2);
    return bytes_;
  }

 private:
  std::uint64_t append(const void* data, std::size_t size) {
    std::uint64_t at = bytes_.size();
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
    return at;
  }
  void header(std::uint32_t name, std::uint32_t type, std::uint64_t offset, std::uint64_t size, std::uint32_t link) {
    std::vector<char> section(64);
    std::memcpy(section.data(), &name, 4);
    std::memcpy(section.data() + 4, &type, 4);
    std::memcpy(section.data() + 24, &offset, 8);
    std::memcpy(section.data() + 32, &size, 8);
    std::memcpy(section.data() + 40, &link, 4);
    append(section.data(), section.size());
  }
  std::vector<std::byte> bytes_;
};

TEST(CubinInfo, ReadsRegistersFrameAndSharedMemory) {
  std::vector<std::byte> image = Image().make(40, 160, 256);
  EXPECT_EQ(read_cubin(image, 80).at("kernel"), (KernelResources{40, 256, 160}));
}

TEST(CubinInfo, LeavesOutWhatTheDriverReserves) {
  EXPECT_EQ(read_cubin(Image().make(40, 0, 1280), 90).at("kernel").shared_bytes, 256);
  EXPECT_EQ(read_cubin(Image().make(40, 0, 1280), 86).at("kernel").shared_bytes, 1280);
  EXPECT_EQ(read_cubin(Image().make(40, 0, 0), 90).at("kernel").shared_bytes, 0);
}

TEST(CubinInfo, NeverReadsOutsideAMalformedImage) {
  const std::vector<std::byte> image = Image().make(40, 160, 256);
  for (std::size_t size = 0; size < image.size(); ++size) {
    std::vector<std::byte> cut(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(read_cubin(cut, 80).empty()) << "the section headers are the end of the image";
  }
  for (std::size_t at = 0; at < image.size(); ++at) {
    std::vector<std::byte> changed = image;
    changed[at] = std::byte{0xFF};
    EXPECT_LE(read_cubin(changed, 80).size(), 2u);
  }
}

}  // namespace
}  // namespace kiln::jit
