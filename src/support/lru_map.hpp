#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln::support {

/// A bounded map that forgets the least recently used values first. `busy(value)` true keeps a value that would be
/// forgotten: the map may then hold more than `capacity`. Thread-safe; the lock covers the map alone, so values are
/// destroyed outside of it.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class LruMap {
 public:
  explicit LruMap(std::size_t capacity, std::function<bool(const Value&)> busy = nullptr)
      : capacity_(capacity), busy_(std::move(busy)) {}

  std::optional<Value> find(const Key& key) {
    std::lock_guard lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) {
      return std::nullopt;
    }
    order_.splice(order_.begin(), order_, it->second);
    return it->second->second;
  }

  void insert(const Key& key, Value value) {
    std::vector<Value> forgotten;  // destroyed after the lock: destruction may be slow
    std::lock_guard lock(mutex_);
    auto it = index_.find(key);
    if (it != index_.end()) {
      forgotten.push_back(std::exchange(it->second->second, std::move(value)));
      order_.splice(order_.begin(), order_, it->second);
      return;
    }
    order_.emplace_front(key, std::move(value));
    index_.emplace(key, order_.begin());
    trim(forgotten);
  }

  void erase(const Key& key) {
    std::optional<Value> forgotten;
    std::lock_guard lock(mutex_);
    auto it = index_.find(key);
    if (it != index_.end()) {
      forgotten = std::move(it->second->second);
      order_.erase(it->second);
      index_.erase(it);
    }
  }

  void clear() {
    List forgotten;
    std::lock_guard lock(mutex_);
    index_.clear();
    forgotten.swap(order_);
  }

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  using List = std::list<std::pair<Key, Value>>;
  /// How many busy values one insertion steps over, so that a map full of busy values stays cheap to insert into.
  static constexpr int k_most_skipped = 8;

  void trim(std::vector<Value>& forgotten) {
    for (int skipped = 0; order_.size() > capacity_ && skipped < k_most_skipped;) {
      auto oldest = std::prev(order_.end());
      if (busy_ && busy_(oldest->second)) {
        order_.splice(std::next(order_.begin()), order_, oldest);
        ++skipped;
        continue;
      }
      forgotten.push_back(std::move(oldest->second));
      index_.erase(oldest->first);
      order_.erase(oldest);
    }
  }

  std::size_t capacity_;
  std::function<bool(const Value&)> busy_;
  mutable std::mutex mutex_;
  List order_;  // most recently used first
  std::unordered_map<Key, typename List::iterator, Hash> index_;
};

}  // namespace kiln::support
