#include "cache/key.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <new>

#include "cache/spec.hpp"

namespace kiln::cache {

namespace {

static_assert(sizeof(XXH3_state_t) <= 576 && alignof(XXH3_state_t) <= 64);

constexpr int k_half_digits = 16;

std::optional<std::uint64_t> digit_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') {
    return static_cast<std::uint64_t>(digit - '0');
  }
  if (digit >= 'a' && digit <= 'f') {
    return static_cast<std::uint64_t>(digit - 'a' + 10);
  }
  if (digit >= 'A' && digit <= 'F') {
    return static_cast<std::uint64_t>(digit - 'A' + 10);
  }
  return std::nullopt;
}

XXH3_state_t* state_in(std::array<std::byte, 576>& bytes) noexcept {
  return std::launder(reinterpret_cast<XXH3_state_t*>(bytes.data()));
}

const XXH3_state_t* state_in(const std::array<std::byte, 576>& bytes) noexcept {
  return std::launder(reinterpret_cast<const XXH3_state_t*>(bytes.data()));
}

Digest canonical(XXH128_hash_t hash) noexcept {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  Digest digest;
  static_assert(sizeof(bytes.digest) == sizeof(Digest));
  std::memcpy(digest.data(), bytes.digest, digest.size());
  return digest;
}

}  // namespace

Key key_of(std::string_view spec) noexcept {
  XXH128_hash_t hash = XXH3_128bits(spec.data(), spec.size());
  return Key{hash.high64, hash.low64};
}

Digest to_digest(const Key& key) noexcept { return canonical(XXH128_hash_t{key.low, key.high}); }

std::optional<Key> to_key(std::span<const std::byte> bytes) noexcept {
  XXH128_canonical_t canonical_form;
  if (bytes.size() != sizeof(canonical_form.digest)) {
    return std::nullopt;
  }
  std::memcpy(canonical_form.digest, bytes.data(), bytes.size());
  XXH128_hash_t hash = XXH128_hashFromCanonical(&canonical_form);
  return Key{hash.high64, hash.low64};
}

std::optional<std::pair<Key, Key>> key_range(std::string_view prefix) noexcept {
  if (prefix.size() > std::size_t{2} * k_half_digits) {
    return std::nullopt;
  }
  Key first;
  Key last{~std::uint64_t{0}, ~std::uint64_t{0}};
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    std::optional<std::uint64_t> value = digit_value(prefix[i]);
    if (!value) {
      return std::nullopt;
    }
    bool in_high = i < k_half_digits;
    auto shift = static_cast<int>(4 * (k_half_digits - 1 - i % k_half_digits));
    std::uint64_t mask = std::uint64_t{0xF} << shift;
    std::uint64_t& low_end = in_high ? first.high : first.low;
    std::uint64_t& high_end = in_high ? last.high : last.low;
    low_end |= *value << shift;
    high_end = (high_end & ~mask) | (*value << shift);
  }
  return std::pair(first, last);
}

Hasher::Hasher() { XXH3_128bits_reset(new (state_.data()) XXH3_state_t); }

void Hasher::add(std::string_view text) noexcept {
  add(static_cast<std::uint64_t>(text.size()));
  XXH3_128bits_update(state_in(state_), text.data(), text.size());
}

void Hasher::add(std::span<const std::byte> bytes) noexcept {
  add(static_cast<std::uint64_t>(bytes.size()));
  XXH3_128bits_update(state_in(state_), bytes.data(), bytes.size());
}

void Hasher::add(std::uint64_t number) noexcept {
  std::array<unsigned char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(number >> (8 * i));
  }
  XXH3_128bits_update(state_in(state_), bytes.data(), bytes.size());
}

Digest Hasher::digest() const noexcept { return canonical(XXH3_128bits_digest(state_in(state_))); }

}  // namespace kiln::cache
