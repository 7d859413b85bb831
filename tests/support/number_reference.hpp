#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "support/number_format.hpp"

namespace kiln::test {

/// An element type of endings by its definition.
class NumberReference {
 public:
  explicit NumberReference(std::string name) : name_(std::move(name)) {}

  std::size_t bytes() const {
    return name_ == "f64"                                       ? 8
           : name_ == "f32" || name_ == "i32" || name_ == "u32" ? 4
           : name_ == "i8" || name_ == "u8" || name_[0] == 'e'  ? 1
                                                                : 2;
  }
  /// Are values doubles in expressions?
  bool is_wide() const { return name_ == "f64" || name_ == "i32" || name_ == "u32"; }

  /// What an element stands for.
  double read(const std::byte* element) const {
    if (name_ == "f64") {
      return as<double>(element);
    }
    if (name_ == "f32") {
      return double{as<float>(element)};
    }
    if (name_ == "i8") {
      return as<std::int8_t>(element);
    }
    if (name_ == "u8") {
      return as<std::uint8_t>(element);
    }
    if (name_ == "i16") {
      return as<std::int16_t>(element);
    }
    if (name_ == "u16") {
      return as<std::uint16_t>(element);
    }
    if (name_ == "i32") {
      return as<std::int32_t>(element);
    }
    if (name_ == "u32") {
      return as<std::uint32_t>(element);
    }
    return format().value_of(bytes() == 1 ? as<std::uint8_t>(element) : as<std::uint16_t>(element));
  }

  /// Some NaN for NaN.
  void write(double number, std::byte* element) const {
    if (name_ == "f64") {
      put(number, element);
    } else if (name_ == "f32") {
      put(static_cast<float>(number), element);
    } else if (name_ == "i8") {
      put(whole<std::int8_t>(number), element);
    } else if (name_ == "u8") {
      put(whole<std::uint8_t>(number), element);
    } else if (name_ == "i16") {
      put(whole<std::int16_t>(number), element);
    } else if (name_ == "u16") {
      put(whole<std::uint16_t>(number), element);
    } else if (name_ == "i32") {
      put(whole<std::int32_t>(number), element);
    } else if (name_ == "u32") {
      put(whole<std::uint32_t>(number), element);
    } else {
      const unsigned bits = std::isnan(number) ? format().sign() - 1 : format().nearest_to(number);
      if (bytes() == 1) {
        put(static_cast<std::uint8_t>(bits), element);
      } else {
        put(static_cast<std::uint16_t>(bits), element);
      }
    }
  }

 private:
  template <typename Type>
  static Type as(const std::byte* element) {
    Type value;
    std::memcpy(&value, element, sizeof(value));
    return value;
  }
  template <typename Type>
  static void put(Type value, std::byte* element) {
    std::memcpy(element, &value, sizeof(value));
  }
  template <typename Type>
  static Type whole(double number) {
    constexpr double k_least = std::numeric_limits<Type>::min();
    constexpr double k_most = std::numeric_limits<Type>::max();
    return std::isnan(number) ? Type{0} : static_cast<Type>(std::nearbyint(std::clamp(number, k_least, k_most)));
  }
  const NumberFormat& format() const {
    static const NumberFormat f16 = NumberFormat::f16();
    static const NumberFormat bf16 = NumberFormat::bf16();
    static const NumberFormat e4m3 = NumberFormat::e4m3();
    static const NumberFormat e5m2 = NumberFormat::e5m2();
    return name_ == "f16" ? f16 : name_ == "bf16" ? bf16 : name_ == "e4m3" ? e4m3 : e5m2;
  }

  std::string name_;
};

}  // namespace kiln::test
