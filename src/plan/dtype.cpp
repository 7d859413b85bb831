#include "kiln/dtype.hpp"

#include <array>
#include <string>

#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln {

namespace {

constexpr std::array k_dtypes{
    Dtype{"bool", 1}, Dtype{"i8", 1},  Dtype{"u8", 1},    Dtype{"e4m3", 1},  Dtype{"e5m2", 1}, Dtype{"b8", 1},
    Dtype{"i16", 2},  Dtype{"u16", 2}, Dtype{"f16", 2},   Dtype{"bf16", 2},  Dtype{"b16", 2},  Dtype{"i32", 4},
    Dtype{"u32", 4},  Dtype{"f32", 4}, Dtype{"b32", 4},   Dtype{"i64", 8},   Dtype{"u64", 8},  Dtype{"f64", 8},
    Dtype{"c64", 8},  Dtype{"b64", 8}, Dtype{"c128", 16}, Dtype{"b128", 16},
};

}  // namespace

std::span<const Dtype> dtypes() noexcept { return k_dtypes; }

unsigned dtype_bytes(std::string_view name) {
  std::string known;
  for (const Dtype& dtype : k_dtypes) {
    if (dtype.name == name) {
      return dtype.bytes;
    }
    known += known.empty() ? "" : ", ";
    known += dtype.name;
  }
  throw Error(ErrorCode::invalid_argument, "element type " + quote(name) + " is unknown: use one of " + known);
}

}  // namespace kiln
