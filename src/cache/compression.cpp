#include "cache/compression.hpp"

#include <zstd.h>

#include <new>
#include <stdexcept>

#include "support/unique_handle.hpp"

namespace kiln::cache {

namespace {

constexpr int k_level = 3;

struct ContextTraits {
  using Type = ZSTD_DCtx*;
  static Type invalid() noexcept { return nullptr; }
  static void close(Type context) noexcept { ZSTD_freeDCtx(context); }
};

/// The size a frame unpacks to; absent if it is not one frame with a size within the limit.
std::optional<std::size_t> content_size(std::span<const std::byte> frame) {
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return std::nullopt;  // not a frame, or something follows it
  }
  unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  // ZSTD_CONTENTSIZE_UNKNOWN and _ERROR are the two largest numbers.
  if (size > k_max_field_bytes) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(size);
}

template <typename Buffer>
std::optional<Buffer> unpack(ZSTD_DCtx* context, std::span<const std::byte> frame) {
  if (frame.empty()) {
    return Buffer();
  }
  std::optional<std::size_t> size = content_size(frame);
  if (!size) {
    return std::nullopt;
  }
  Buffer buffer(*size, typename Buffer::value_type{});
  std::size_t written = ZSTD_decompressDCtx(context, buffer.data(), buffer.size(), frame.data(), frame.size());
  if (ZSTD_isError(written) != 0 || written != *size) {
    return std::nullopt;
  }
  return buffer;
}

}  // namespace

std::vector<std::byte> compress(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return {};
  }
  if (bytes.size() > k_max_field_bytes) {
    throw std::length_error("a field of " + std::to_string(bytes.size()) + " bytes is too large to be stored");
  }
  std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
  std::size_t size = ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), k_level);
  if (ZSTD_isError(size) != 0) {
    throw std::bad_alloc();  // the only way it fails with room enough
  }
  frame.resize(size);
  return frame;
}

struct Decompressor::State {
  support::UniqueHandle<ContextTraits> context;
};

Decompressor::Decompressor() : state_(std::make_unique<State>()) {
  state_->context.reset(ZSTD_createDCtx());
  if (!state_->context) {
    throw std::bad_alloc();
  }
}

Decompressor::~Decompressor() = default;

std::optional<std::vector<std::byte>> Decompressor::bytes(std::span<const std::byte> frame) {
  return unpack<std::vector<std::byte>>(state_->context.get(), frame);
}

std::optional<std::string> Decompressor::text(std::span<const std::byte> frame) {
  return unpack<std::string>(state_->context.get(), frame);
}

}  // namespace kiln::cache
