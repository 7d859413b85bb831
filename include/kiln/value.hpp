#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kiln {

/// A C++ type, as it would be written in the template: "float", "uint4", "my::vec<int, 4>".
struct TypeName {
  std::string text;
  friend bool operator==(const TypeName&, const TypeName&) = default;
};

/// A piece of CUDA C++, taken as it is. The compiler's log counts its lines from 1 under the parameter's name.
struct Code {
  std::string text;
  friend bool operator==(const Code&, const Code&) = default;
};

/// What a caller gives for one parameter of a template. A plain value: copies are independent, and any number
/// of threads may read one. Whether it fits is decided when the template that declares the parameter is
/// instantiated: an `int8_t` parameter takes any integer from -128 to 127, whatever type it had here.
class Value {
 public:
  using Storage = std::variant<bool, std::int64_t, std::uint64_t, double, TypeName, Code, std::vector<std::int64_t>,
                               std::vector<std::uint64_t>, std::vector<double>>;

  // Implicit on purpose: `{"n", 36}` is how values are meant to be written.
  Value(bool value) : storage_(value) {}  // NOLINT(google-explicit-constructor)
  template <std::signed_integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) : storage_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) : storage_(static_cast<std::uint64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::floating_point T>
  Value(T value) : storage_(static_cast<double>(value)) {}  // NOLINT(google-explicit-constructor)
  Value(TypeName value) : storage_(std::move(value)) {}     // NOLINT(google-explicit-constructor)
  Value(Code value) : storage_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  /// A pointer would become a bool: say TypeName{"float"} or Code{"…"}.
  template <typename T>
  Value(T* value) = delete;  // NOLINT(google-explicit-constructor)
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  Value(const std::vector<T>& list) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::unsigned_integral<T>) {
      storage_ = std::vector<std::uint64_t>(list.begin(), list.end());
    } else {
      storage_ = std::vector<std::int64_t>(list.begin(), list.end());
    }
  }
  template <std::floating_point T>
  Value(const std::vector<T>& list)  // NOLINT(google-explicit-constructor)
      : storage_(std::vector<double>(list.begin(), list.end())) {}

  const Storage& storage() const noexcept { return storage_; }
  friend bool operator==(const Value&, const Value&) = default;

 private:
  Storage storage_;
};

/// Values by parameter name. Ordered by name, so that two requests with the same values are the same request
/// whatever order they were given in.
class Values {
 public:
  Values() = default;
  Values(std::initializer_list<std::pair<const std::string, Value>> list) : map_(list) {}

  /// Sets or replaces one value; returns *this, to chain.
  Values& set(std::string name, Value value) {
    map_.insert_or_assign(std::move(name), std::move(value));
    return *this;
  }
  const Value* find(std::string_view name) const {
    auto it = map_.find(name);
    return it == map_.end() ? nullptr : &it->second;
  }
  bool empty() const noexcept { return map_.empty(); }
  std::size_t size() const noexcept { return map_.size(); }
  auto begin() const noexcept { return map_.begin(); }
  auto end() const noexcept { return map_.end(); }
  friend bool operator==(const Values&, const Values&) = default;

 private:
  std::map<std::string, Value, std::less<>> map_;
};

}  // namespace kiln
