#include "cache/row_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "cache/spec.hpp"

namespace kiln::cache {

namespace {

/// The part of an ELF file's header that is looked at; little-endian, 64 bits, as all cubins are.
struct ElfHeader {
  unsigned char ident[16];
  std::uint16_t type;
  std::uint16_t machine;
  std::uint32_t version;
  std::uint64_t entry;
  std::uint64_t program_offset;
  std::uint64_t section_offset;
  std::uint32_t flags;
  std::uint16_t header_size;
  std::uint16_t program_size;
  std::uint16_t program_count;
  std::uint16_t section_size;
  std::uint16_t section_count;
  std::uint16_t names_index;
};
static_assert(sizeof(ElfHeader) == 64);

constexpr std::uint16_t k_machine_cuda = 190;
constexpr unsigned char k_class_64 = 2;

bool is_within(std::uint64_t offset, std::uint64_t count, std::uint64_t size, std::uint64_t total) {
  return offset <= total && count * size <= total - offset;  // count and size have 16 bits
}

bool is_cubin(std::span<const std::byte> image) {
  ElfHeader header{};
  if (image.size() < sizeof(header)) {
    return false;
  }
  std::memcpy(&header, image.data(), sizeof(header));
  return std::memcmp(header.ident, "\177ELF", 4) == 0 && header.ident[4] == k_class_64 &&
         header.machine == k_machine_cuda &&
         is_within(header.section_offset, header.section_count, header.section_size, image.size()) &&
         is_within(header.program_offset, header.program_count, header.program_size, image.size());
}

/// Text with the two directives without which nothing is PTX. NVRTC ends it with a zero byte.
bool is_ptx(std::span<const std::byte> image) {
  std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  if (!text.empty() && text.back() == '\0') {
    text.remove_suffix(1);
  }
  return text.find('\0') == std::string_view::npos && text.find(".version") != std::string_view::npos &&
         text.find(".target") != std::string_view::npos;
}

std::optional<std::string_view> content_of(const std::vector<SpecField>& fields, std::string_view label) {
  const auto found = std::ranges::find(fields, label, &SpecField::label);
  return found == fields.end() ? std::nullopt : std::optional(found->content);
}

const char* problem_of_spec(const Row& row, const Artifact& artifact) {
  if (key_of(artifact.spec) != artifact.key) {
    return "its key is not the hash of its spec";
  }
  const auto fields = parse_spec(artifact.spec);
  if (fields.empty()) {
    return "its spec is malformed";
  }
  if (content_of(fields, "target") != std::optional<std::string_view>(row.target)) {
    return "its target is not the spec's";
  }
  if (content_of(fields, "template") != std::optional<std::string_view>(row.template_name)) {
    return "its template is not the spec's";
  }
  return nullptr;
}

const char* problem_of_image(const Artifact& artifact) {
  const bool cubin = artifact.kind == ImageKind::cubin;
  if (cubin ? !is_cubin(artifact.image) : !is_ptx(artifact.image)) {
    return cubin ? "its image is not a CUDA ELF file" : "its image is not PTX";
  }
  return nullptr;
}

const char* problem_of_columns(const Row& row, const Artifact& artifact) {
  std::string names;
  std::int64_t registers = 0;
  std::int64_t spill_bytes = 0;
  for (const auto& entry : artifact.entries) {
    names += (names.empty() ? "" : ", ") + entry.expression;
    registers = std::max<std::int64_t>(registers, entry.registers);
    spill_bytes = std::max(spill_bytes, entry.spill_bytes);
  }
  if (names != row.entry_names || registers != row.registers || spill_bytes != row.spill_bytes) {
    return "its listed names, registers or spill bytes are not its kernels'";
  }
  return nullptr;
}

}  // namespace

CheckedRow check_row(const Row& row) {
  if (checksum_of(row) != row.checksum) {
    return {std::nullopt, "its checksum does not match"};
  }
  auto artifact = to_artifact(row);
  if (!artifact) {
    return {std::nullopt, "a column is malformed"};
  }
  for (const char* problem :
       {problem_of_spec(row, *artifact), problem_of_image(*artifact), problem_of_columns(row, *artifact)}) {
    if (problem != nullptr) {
      return {std::nullopt, problem};
    }
  }
  return {std::move(artifact), {}};
}

}  // namespace kiln::cache
