#include "jit/cubin_info.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace kiln::jit {

namespace {

constexpr std::string_view k_shared_prefix = ".nv.shared.";
constexpr std::int64_t k_reserved_shared_bytes = 1024;
constexpr std::uint32_t k_symbol_table = 2;  // SHT_SYMTAB

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::span<const std::byte> content;  // empty for sections that occupy no bytes of the file
};

template <typename T>
std::optional<T> read(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::span<const std::byte> slice(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) {
    return {};
  }
  return bytes.subspan(offset, size);
}

std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  const char* start = reinterpret_cast<const char*>(table.data()) + offset;
  return {start, strnlen(start, table.size() - offset)};
}

std::vector<Section> read_sections(std::span<const std::byte> image) {
  constexpr std::uint64_t k_header_size = 64;  // of a section header
  auto offset = read<std::uint64_t>(image, 0x28);
  auto count = read<std::uint16_t>(image, 0x3C);
  auto names = read<std::uint16_t>(image, 0x3E);
  if (!offset || !count || !names) {
    return {};
  }
  std::vector<Section> sections;
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < *count; ++i) {
    auto header = slice(image, *offset + i * k_header_size, k_header_size);
    if (header.empty()) {
      return {};
    }
    Section section;
    name_offsets.push_back(*read<std::uint32_t>(header, 0));
    section.type = *read<std::uint32_t>(header, 4);
    section.size = *read<std::uint64_t>(header, 32);
    section.link = *read<std::uint32_t>(header, 40);
    section.content = slice(image, *read<std::uint64_t>(header, 24), section.size);
    sections.push_back(section);
  }
  if (*names < sections.size()) {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      sections[i].name = string_at(sections[*names].content, name_offsets[i]);
    }
  }
  return sections;
}

/// The names of the symbols, by number.
std::vector<std::string_view> read_symbols(const std::vector<Section>& sections) {
  constexpr std::uint64_t k_symbol_size = 24;
  std::vector<std::string_view> symbols;
  for (const Section& section : sections) {
    if (section.type != k_symbol_table || section.link >= sections.size()) {
      continue;
    }
    for (std::uint64_t at = 0; at + k_symbol_size <= section.content.size(); at += k_symbol_size) {
      symbols.push_back(string_at(sections[section.link].content, *read<std::uint32_t>(section.content, at)));
    }
    break;
  }
  return symbols;
}

void read_attributes(std::span<const std::byte> info, const std::vector<std::string_view>& symbols,
                     std::map<std::string, KernelResources>& kernels) {
  constexpr std::uint8_t k_sized_format = 4;
  constexpr std::uint8_t k_frame_size = 0x11;
  constexpr std::uint8_t k_register_count = 0x2F;
  std::uint64_t at = 0;
  while (at + 4 <= info.size()) {
    auto format = *read<std::uint8_t>(info, at);
    auto attribute = *read<std::uint8_t>(info, at + 1);
    auto size = *read<std::uint16_t>(info, at + 2);
    at += 4;
    if (format != k_sized_format) {
      continue;
    }
    auto symbol = read<std::uint32_t>(info, at);
    auto value = read<std::uint32_t>(info, at + 4);
    bool is_known = attribute == k_frame_size || attribute == k_register_count;
    if (is_known && size >= 8 && symbol && value && *symbol < symbols.size()) {
      KernelResources& kernel = kernels[std::string(symbols[*symbol])];
      if (attribute == k_frame_size) {
        kernel.local_bytes = *value;
      } else {
        kernel.registers = static_cast<int>(*value);
      }
    }
    at += size;
  }
}

}  // namespace

std::map<std::string, KernelResources> read_cubin(std::span<const std::byte> image, int capability) {
  std::map<std::string, KernelResources> kernels;
  std::vector<Section> sections = read_sections(image);
  std::vector<std::string_view> symbols = read_symbols(sections);
  for (const Section& section : sections) {
    if (section.name == ".nv.info") {
      read_attributes(section.content, symbols, kernels);
    }
    if (section.name.starts_with(k_shared_prefix) && section.name != ".nv.shared.reserved.0") {
      auto bytes = static_cast<std::int64_t>(section.size);
      std::int64_t reserved = capability >= 90 ? k_reserved_shared_bytes : 0;
      kernels[std::string(section.name.substr(k_shared_prefix.size()))].shared_bytes =
          std::max<std::int64_t>(bytes - reserved, 0);
    }
  }
  return kernels;
}

}  // namespace kiln::jit
