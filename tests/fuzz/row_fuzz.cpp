// What a row's columns are decoded with, on any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "cache/compression.hpp"
#include "cache/key.hpp"
#include "cache/row_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace cache = kiln::cache;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bytes = std::as_bytes(std::span(data, size));
  cache::to_target(text);
  cache::to_image_kind(text);
  cache::to_key(bytes);
  cache::key_range(text);
  if (const auto entries = cache::to_entries(text)) {
    // What can be read is what was written.
    if (cache::to_entries(cache::to_column(*entries)) != entries) {
      std::abort();
    }
  }
  cache::Decompressor decompressor;
  if (const auto plain = decompressor.bytes(bytes)) {
    if (decompressor.bytes(cache::compress(*plain)) != plain) {
      std::abort();
    }
  }
  cache::Row row;
  row.target = "sm_90";
  row.kind = "cubin";
  row.spec.assign(bytes.begin(), bytes.end());
  row.image = row.spec;
  row.image_bytes = static_cast<std::int64_t>(size);
  row.checksum = cache::checksum_of(row);
  cache::check_row(row);
  return 0;
}
