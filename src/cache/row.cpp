#include "cache/row.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "cache/compression.hpp"
#include "kiln/error.hpp"

namespace kiln::cache {

namespace {

constexpr std::int64_t k_minor_base = 100'000;
constexpr std::int64_t k_major_base = 100'000'000;
constexpr int k_max_major = 99'999;
/// Below what SQLite is told to read (256 MiB), with room for the short columns.
constexpr std::size_t k_max_row_bytes = std::size_t{250} << 20;

std::span<const std::byte> bytes_of(std::string_view text) noexcept { return std::as_bytes(std::span(text)); }

/// An ELF file's first bytes. Whatever else a cubin is, it begins so.
bool is_elf(std::span<const std::byte> image) noexcept {
  constexpr std::array k_magic{std::byte{0x7F}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
  return image.size() > k_magic.size() && std::equal(k_magic.begin(), k_magic.end(), image.begin());
}

template <typename Number>
bool take_number(std::string_view& rest, Number& number) {
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || digits == rest.size() || *end != ' ') {
    return false;
  }
  rest.remove_prefix(digits + 1);
  return true;
}

bool take_text(std::string_view& rest, std::size_t size, char end, std::string& text) {
  if (size >= rest.size() || rest[size] != end) {
    return false;
  }
  text = rest.substr(0, size);
  rest.remove_prefix(size + 1);
  return true;
}

bool take_entry(std::string_view& rest, EntryPoint& entry) {
  std::size_t expression_size = 0;
  std::size_t lowered_size = 0;
  return take_number(rest, entry.registers) && take_number(rest, entry.spill_bytes) &&
         take_number(rest, entry.shared_bytes) && take_number(rest, entry.local_bytes) &&
         take_number(rest, expression_size) && take_number(rest, lowered_size) &&
         take_text(rest, expression_size, ' ', entry.expression) && take_text(rest, lowered_size, '\n', entry.lowered);
}

std::string names_of(const std::vector<EntryPoint>& entries) {
  std::string names;
  for (const EntryPoint& entry : entries) {
    names += names.empty() ? "" : ", ";
    names += entry.expression;
  }
  return names;
}

}  // namespace

std::optional<std::int64_t> to_column(const Compiler& compiler) noexcept {
  if (compiler.major < 0 || compiler.major > k_max_major || compiler.minor < 0 ||
      compiler.minor >= k_major_base / k_minor_base || compiler.build < 0 || compiler.build >= k_minor_base) {
    return std::nullopt;
  }
  return compiler.major * k_major_base + compiler.minor * k_minor_base + compiler.build;
}

Compiler to_compiler(std::int64_t column) noexcept {
  column = std::clamp<std::int64_t>(column, 0, k_max_major * k_major_base + k_major_base - 1);
  return {static_cast<int>(column / k_major_base),
          static_cast<int>(column / k_minor_base % (k_major_base / k_minor_base)),
          static_cast<int>(column % k_minor_base)};
}

std::optional<Target> to_target(std::string_view column) {
  try {
    Target target = Target::parse(column);
    return target.is_native() ? std::nullopt : std::optional(target);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string_view to_column(ImageKind kind) noexcept { return kind == ImageKind::cubin ? "cubin" : "ptx"; }

std::optional<ImageKind> to_image_kind(std::string_view column) noexcept {
  if (column == "cubin") {
    return ImageKind::cubin;
  }
  return column == "ptx" ? std::optional(ImageKind::ptx) : std::nullopt;
}

std::string to_column(const std::vector<EntryPoint>& entries) {
  std::string column;
  for (const EntryPoint& entry : entries) {
    for (std::int64_t number :
         {std::int64_t{entry.registers}, entry.spill_bytes, entry.shared_bytes, entry.local_bytes,
          static_cast<std::int64_t>(entry.expression.size()), static_cast<std::int64_t>(entry.lowered.size())}) {
      column += std::to_string(number) + ' ';
    }
    column += entry.expression + ' ' + entry.lowered + '\n';
  }
  return column;
}

std::optional<std::vector<EntryPoint>> to_entries(std::string_view column) {
  std::vector<EntryPoint> entries;
  while (!column.empty()) {
    EntryPoint entry;
    if (!take_entry(column, entry)) {
      return std::nullopt;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Digest checksum_of(const Row& row) noexcept {
  Hasher hasher;
  hasher.add(std::span<const std::byte>(row.key));
  hasher.add(static_cast<std::uint64_t>(row.compiler));
  hasher.add(row.template_name);
  hasher.add(row.target);
  hasher.add(row.kind);
  hasher.add(row.entry_names);
  hasher.add(static_cast<std::uint64_t>(row.image_bytes));
  hasher.add(std::bit_cast<std::uint64_t>(row.compile_ms));
  hasher.add(static_cast<std::uint64_t>(row.registers));
  hasher.add(static_cast<std::uint64_t>(row.spill_bytes));
  hasher.add(static_cast<std::uint64_t>(row.created));
  hasher.add(row.entries);
  hasher.add(row.log);
  hasher.add(std::span<const std::byte>(row.spec));
  hasher.add(std::span<const std::byte>(row.ptx));
  hasher.add(std::span<const std::byte>(row.image));
  return hasher.digest();
}

std::optional<Row> to_row(const Artifact& artifact, std::int64_t now) {
  std::optional<std::int64_t> compiler = to_column(artifact.compiler);
  bool usable = !artifact.image.empty() && (artifact.kind == ImageKind::ptx || is_elf(artifact.image));
  if (!compiler || artifact.target.is_native() || !usable) {
    return std::nullopt;
  }
  Row row;
  row.key = to_digest(artifact.key);
  row.compiler = *compiler;
  row.template_name = artifact.template_name;
  row.target = artifact.target.text();
  row.kind = to_column(artifact.kind);
  row.entry_names = names_of(artifact.entries);
  row.image_bytes = static_cast<std::int64_t>(artifact.image.size());
  // NaN is NULL to SQLite; -0.0 comes back as 0.0, and with it another checksum.
  row.compile_ms = artifact.compile_ms > 0.0 ? artifact.compile_ms : 0.0;
  for (const EntryPoint& entry : artifact.entries) {
    row.registers = std::max<std::int64_t>(row.registers, entry.registers);
    row.spill_bytes = std::max(row.spill_bytes, entry.spill_bytes);
  }
  row.created = artifact.created;
  row.last_used = now;
  row.entries = to_column(artifact.entries);
  row.log = artifact.log;
  row.spec = compress(bytes_of(artifact.spec));
  row.ptx = compress(bytes_of(artifact.ptx));
  row.image = compress(artifact.image);
  row.checksum = checksum_of(row);
  const std::size_t bytes = row.spec.size() + row.ptx.size() + row.image.size() + row.entries.size() + row.log.size() +
                            row.entry_names.size() + row.template_name.size();
  return bytes <= k_max_row_bytes ? std::optional(std::move(row)) : std::nullopt;
}

std::optional<Artifact> to_artifact(const Row& row) {
  Decompressor decompressor;
  return to_artifact(row, decompressor);
}

std::optional<Artifact> to_artifact(const Row& row, Decompressor& decompressor) {
  if (checksum_of(row) != row.checksum) {
    return std::nullopt;
  }
  std::optional<Key> key = to_key(row.key);
  std::optional<Target> target = to_target(row.target);
  std::optional<ImageKind> kind = to_image_kind(row.kind);
  std::optional<std::vector<EntryPoint>> entries = to_entries(row.entries);
  std::optional<std::string> spec = decompressor.text(row.spec);
  std::optional<std::string> ptx = decompressor.text(row.ptx);
  std::optional<std::vector<std::byte>> image = decompressor.bytes(row.image);
  if (!key || !target || !kind || !entries || !spec || !ptx || !image ||
      static_cast<std::int64_t>(image->size()) != row.image_bytes || image->empty() ||
      (*kind == ImageKind::cubin && !is_elf(*image))) {
    return std::nullopt;
  }
  Artifact artifact;
  artifact.key = *key;
  artifact.spec = std::move(*spec);
  artifact.template_name = row.template_name;
  artifact.target = *target;
  artifact.compiler = to_compiler(row.compiler);
  artifact.kind = *kind;
  artifact.image = std::move(*image);
  artifact.ptx = std::move(*ptx);
  artifact.entries = std::move(*entries);
  artifact.log = row.log;
  artifact.compile_ms = row.compile_ms;
  artifact.created = row.created;
  return artifact;
}

}  // namespace kiln::cache
