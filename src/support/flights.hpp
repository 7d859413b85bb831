#pragma once

#include <exception>
#include <future>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace kiln::support {

/// Lets one caller at a time do the work for a key; the others that ask meanwhile wait and get its value, or the very
/// exception it ended with. Nothing is remembered once the work is over. Thread-safe; `work` runs outside any lock.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class Flights {
 public:
  template <typename Work>
  Value run(const Key& key, Work&& work) {
    std::promise<Value> promise;
    {
      std::unique_lock lock(mutex_);
      auto [it, first] = flights_.try_emplace(key);
      if (!first) {
        std::shared_future<Value> theirs = it->second;
        lock.unlock();
        return theirs.get();
      }
      it->second = promise.get_future().share();
    }
    // From here on every way out lands the flight: a key left behind would make later callers wait for ever.
    try {
      Value value = std::forward<Work>(work)();
      promise.set_value(value);
      land(key);
      return value;
    } catch (...) {
      promise.set_exception(std::current_exception());
      land(key);
      throw;
    }
  }

 private:
  void land(const Key& key) {
    std::lock_guard lock(mutex_);
    flights_.erase(key);
  }

  std::mutex mutex_;
  std::unordered_map<Key, std::shared_future<Value>, Hash> flights_;
};

}  // namespace kiln::support
