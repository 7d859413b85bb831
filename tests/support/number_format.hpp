#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kiln::test {

/// A floating-point format by its definition: what its bits stand for, and which of its numbers is nearest to another,
/// found among all of them. Nothing here is shared with what is tested with it.
class NumberFormat {
 public:
  /// `infinities`: bits of the largest exponent are infinity and NaN; else only the very largest are NaN. `saturates`:
  /// what is beyond the largest finite number becomes that.
  NumberFormat(int exponent_bits, int mantissa_bits, bool infinities, bool saturates)
      : mantissa_bits_(mantissa_bits),
        sign_(1U << (exponent_bits + mantissa_bits)),
        infinity_(infinities ? ((1U << exponent_bits) - 1) << mantissa_bits : sign_ - 1),
        bias_((1 << (exponent_bits - 1)) - 1),
        infinities_(infinities),
        saturates_(saturates) {
    for (unsigned bits = 0; bits < infinity_; ++bits) {
      finite_.push_back(value_of(bits));
    }
  }
  static NumberFormat f16() { return {5, 10, true, false}; }
  static NumberFormat bf16() { return {8, 7, true, false}; }
  static NumberFormat e4m3() { return {4, 3, false, true}; }
  static NumberFormat e5m2() { return {5, 2, true, true}; }

  /// All numbers that are not negative, in order: their bits are their places.
  const std::vector<double>& finite() const noexcept { return finite_; }
  unsigned sign() const noexcept { return sign_; }
  unsigned count() const noexcept { return 2 * sign_; }

  double value_of(unsigned bits) const {
    const unsigned magnitude = bits & (sign_ - 1);
    const double sign = (bits & sign_) != 0 ? -1.0 : 1.0;
    if (magnitude > infinity_ || (magnitude == infinity_ && !infinities_)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (magnitude == infinity_) {
      return sign * std::numeric_limits<double>::infinity();
    }
    const int exponent = static_cast<int>(magnitude >> mantissa_bits_);
    const auto mantissa = static_cast<double>(magnitude & ((1U << mantissa_bits_) - 1));
    const double scaled = exponent == 0 ? mantissa : mantissa + std::ldexp(1.0, mantissa_bits_);
    return sign * std::ldexp(scaled, std::max(exponent, 1) - bias_ - mantissa_bits_);
  }
  bool is_nan(unsigned bits) const { return std::isnan(value_of(bits)); }

  /// Bits of the nearest number; of two, that with even bits. Not for NaN.
  unsigned nearest_to(double value) const {
    const unsigned sign = std::signbit(value) ? sign_ : 0;
    const double magnitude = std::abs(value);
    const auto above = std::upper_bound(finite_.begin(), finite_.end(), magnitude);
    const auto low = static_cast<unsigned>(above - finite_.begin() - 1);
    if (above == finite_.end()) {
      // The next number would be as far away as the one before, were there one.
      const double next = 2 * finite_.back() - finite_[finite_.size() - 2];
      const bool is_beyond = magnitude >= (finite_.back() + next) / 2;
      return sign | (is_beyond && !saturates_ ? infinity_ : low);
    }
    const double middle = (finite_[low] + *above) / 2;  // exact: both have few bits
    const bool up = magnitude > middle || (magnitude == middle && low % 2 != 0);
    return sign | (low + (up ? 1 : 0));
  }

 private:
  int mantissa_bits_;
  unsigned sign_;
  unsigned infinity_;  // or NaN, where there is no infinity
  int bias_;
  bool infinities_;
  bool saturates_;
  std::vector<double> finite_;
};

}  // namespace kiln::test
