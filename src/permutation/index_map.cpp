#include "kiln/index_map.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "kiln/error.hpp"

namespace kiln {

namespace {

constexpr std::uint64_t k_largest_size = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

void check_sizes(std::uint64_t size, std::uint64_t source_size) {
  if (size == 0) {
    refuse("the index map is empty: it needs at least one source position");
  }
  if (size > k_largest_size || source_size > k_largest_size) {
    refuse("the index map has " + std::to_string(size) + " positions over " + std::to_string(source_size) +
           " sources: neither may be above " + std::to_string(k_largest_size));
  }
}

/// One bit a source position: which of them have been seen. Small maps need no allocation.
class SeenSources {
 public:
  explicit SeenSources(std::uint64_t size) {
    std::uint64_t words = size / 64 + 1;
    if (words > small_.size()) {
      large_.resize(words);
      words_ = large_.data();
    }
  }
  /// Marks `source`; false if it was marked before.
  bool mark(std::uint32_t source) noexcept {
    std::uint64_t bit = std::uint64_t{1} << (source % 64);
    std::uint64_t& word = words_[source / 64];
    bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }

 private:
  std::array<std::uint64_t, 8> small_{};
  std::vector<std::uint64_t> large_;
  std::uint64_t* words_ = small_.data();
};

/// The first position whose source an earlier position has; the size if there is none.
std::uint64_t first_repeat(std::span<const std::uint32_t> sources, std::uint64_t source_size) {
  SeenSources seen(source_size);
  auto repeat = std::ranges::find_if(sources, [&](std::uint32_t source) { return !seen.mark(source); });
  return static_cast<std::uint64_t>(repeat - sources.begin());
}

std::pair<std::uint64_t, std::uint64_t> digest_of(std::span<const std::uint32_t> sources, std::uint64_t source_size) {
  XXH128_hash_t list = XXH3_128bits(sources.data(), sources.size_bytes());
  const std::array<std::uint64_t, 4> whole{sources.size(), source_size, list.high64, list.low64};
  XXH128_hash_t digest = XXH3_128bits(whole.data(), sizeof(whole));
  return {digest.high64, digest.low64};
}

}  // namespace

struct IndexMap::State {
  State(std::vector<std::uint32_t> list, std::uint64_t bound)
      : sources(std::move(list)),
        source_size(bound),
        digest(digest_of(sources, source_size)),
        is_permutation(sources.size() == source_size && first_repeat(sources, source_size) == sources.size()) {}

  std::vector<std::uint32_t> sources;
  std::uint64_t source_size;
  std::pair<std::uint64_t, std::uint64_t> digest;
  bool is_permutation;
};

namespace {

/// The list as it is kept, every index checked.
template <typename Index>
std::vector<std::uint32_t> checked(std::span<const Index> sources, std::uint64_t source_size) {
  check_sizes(sources.size(), source_size);
  std::vector<std::uint32_t> list(sources.size());
  for (std::size_t position = 0; position < sources.size(); ++position) {
    Index source = sources[position];
    // A negative index is above every bound once it is unsigned.
    if (static_cast<std::uint64_t>(source) >= source_size) [[unlikely]] {
      std::string what = "the index map has source " + std::to_string(source) + " at position " +
                         std::to_string(position) + ", which is ";
      refuse(what + (source < Index{0} ? "negative: sources count from 0"
                                       : "out of range: sources must be below " + std::to_string(source_size)));
    }
    list[position] = static_cast<std::uint32_t>(source);
  }
  return list;
}

}  // namespace

IndexMap::IndexMap(std::span<const std::int64_t> sources, std::uint64_t source_size)
    : state_(std::make_shared<const State>(checked(sources, source_size), source_size)) {}

IndexMap::IndexMap(std::span<const std::uint32_t> sources, std::uint64_t source_size)
    : state_(std::make_shared<const State>(checked(sources, source_size), source_size)) {}

std::uint64_t IndexMap::size() const noexcept { return state_->sources.size(); }
std::uint64_t IndexMap::source_size() const noexcept { return state_->source_size; }
std::span<const std::uint32_t> IndexMap::sources() const noexcept { return state_->sources; }
std::pair<std::uint64_t, std::uint64_t> IndexMap::digest() const noexcept { return state_->digest; }
bool IndexMap::is_permutation() const noexcept { return state_->is_permutation; }

IndexMap IndexMap::after(const IndexMap& first) const {
  if (first.size() != source_size()) {
    refuse("these index maps do not fit together: the first gives " + std::to_string(first.size()) +
           " positions, the second takes " + std::to_string(source_size()));
  }
  std::vector<std::uint32_t> composed(size());
  std::transform(sources().begin(), sources().end(), composed.begin(),
                 [from = first.sources()](std::uint32_t position) { return from[position]; });
  return IndexMap(std::make_shared<const State>(std::move(composed), first.source_size()));
}

bool operator==(const IndexMap& a, const IndexMap& b) noexcept {
  if (a.state_ == b.state_) {
    return true;
  }
  return a.digest() == b.digest() && a.source_size() == b.source_size() &&
         std::equal(a.sources().begin(), a.sources().end(), b.sources().begin(), b.sources().end());
}

Permutation::Permutation(std::span<const std::int64_t> sources) : Permutation(IndexMap(sources, sources.size())) {}

Permutation::Permutation(const IndexMap& map) : IndexMap(map) {
  if (is_permutation()) {
    return;
  }
  std::uint64_t second = first_repeat(sources(), source_size());
  if (second == size()) {
    refuse("the index map takes " + std::to_string(size()) + " of " + std::to_string(source_size()) +
           " sources: a permutation takes every source exactly once");
  }
  std::uint32_t source = sources()[second];
  auto first = std::find(sources().begin(), sources().end(), source) - sources().begin();
  refuse("the index map is no permutation: source " + std::to_string(source) + " stands at positions " +
         std::to_string(first) + " and " + std::to_string(second));
}

Permutation Permutation::identity(std::uint64_t size) {
  check_sizes(size, size);
  std::vector<std::uint32_t> list(size);
  for (std::uint64_t position = 0; position < size; ++position) {
    list[position] = static_cast<std::uint32_t>(position);
  }
  return Permutation(IndexMap(std::span<const std::uint32_t>(list), size));
}

Permutation Permutation::inverse() const {
  std::vector<std::uint32_t> list(size());
  for (std::uint64_t position = 0; position < size(); ++position) {
    list[(*this)[position]] = static_cast<std::uint32_t>(position);
  }
  return Permutation(IndexMap(std::span<const std::uint32_t>(list), size()));
}

Permutation Permutation::after(const Permutation& first) const { return Permutation(IndexMap::after(first)); }

}  // namespace kiln
