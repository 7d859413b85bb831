#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kiln/permuter.hpp"

namespace kiln::permutation {

/// What a permute kernel was asked for. The map is compared whole, after its digest.
struct PermuteId {
  std::uint64_t context = 0;
  IndexMap map;
  PermuteShape shape;
  Target target;
  bool tuned = false;  ///< for Permuter::tune
  friend bool operator==(const PermuteId&, const PermuteId&) = default;
};

struct PermuteIdHash {
  std::size_t operator()(const PermuteId& id) const noexcept;
};

/// The kernels asked for last: at most `max_kernels`, whose maps have at most `max_positions` positions in all; the
/// newest is kept however large it is. Thread-safe; the lock covers the table alone.
template <typename Value>
class PermuteMemory {
 public:
  PermuteMemory(std::size_t max_kernels, std::uint64_t max_positions)
      : max_kernels_(max_kernels), max_positions_(max_positions) {}

  std::optional<Value> find(const PermuteId& id) {
    std::lock_guard lock(mutex_);
    auto found = index_.find(id);
    if (found == index_.end()) {
      return std::nullopt;
    }
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }

  void insert(const PermuteId& id, Value value) {
    List forgotten;  // destroyed after the lock: the last holder of a kernel unloads it
    std::lock_guard lock(mutex_);
    if (auto found = index_.find(id); found != index_.end()) {
      forget(found, forgotten);
    }
    order_.emplace_front(id, std::move(value));
    index_.emplace(id, order_.begin());
    positions_ += id.map.size();
    while (order_.size() > 1 && (order_.size() > max_kernels_ || positions_ > max_positions_)) {
      forget(index_.find(order_.back().first), forgotten);
    }
  }

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  using List = std::list<std::pair<PermuteId, Value>>;
  using Index = std::unordered_map<PermuteId, typename List::iterator, PermuteIdHash>;

  void forget(typename Index::iterator found, List& forgotten) {
    auto entry = found->second;
    positions_ -= entry->first.map.size();
    index_.erase(found);
    forgotten.splice(forgotten.end(), order_, entry);
  }

  std::size_t max_kernels_;
  std::uint64_t max_positions_;
  mutable std::mutex mutex_;
  List order_;  // asked for last comes first
  Index index_;
  std::uint64_t positions_ = 0;
};

}  // namespace kiln::permutation
