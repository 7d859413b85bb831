// Rows that are pitched or permuted in place, against the definition, computed on the host: what stands between rows,
// and around them, must not change.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "gpu/kernel_fixture.hpp"
#include "kiln/error.hpp"
#include "kiln/permuter.hpp"
#include "permutation/row_bytes.hpp"
#include "support/number_reference.hpp"

namespace kiln {
namespace {

using test::DeviceArray;

using Bytes = std::vector<unsigned char>;

constexpr std::size_t k_guard_bytes = 256;

Bytes random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<unsigned char>(random()); });
  return bytes;
}

/// A permutation, or of more or fewer positions than sources.
IndexMap make_map(std::uint64_t size, std::uint64_t source_size) {
  std::vector<std::uint32_t> sources(std::max(size, source_size));
  for (std::size_t j = 0; j < sources.size(); ++j) {
    sources[j] = static_cast<std::uint32_t>(j % source_size);
  }
  std::shuffle(sources.begin(), sources.end(), std::mt19937(31));
  sources.resize(size);
  return {std::span<const std::uint32_t>(sources), source_size};
}

struct Case {
  std::string name;
  std::uint64_t size;
  std::uint64_t source_size;
  std::uint64_t inner;
  std::uint64_t pad_in;   ///< elements between rows of x
  std::uint64_t pad_out;  ///< elements between rows of y
  bool in_place;
  std::uint64_t typical_rows;
  std::string strategy;  ///< for elements of every size; empty where the size decides
};

void PrintTo(const Case& shape, std::ostream* out) { *out << shape.name; }

class RowsTest : public test::KernelTest {
 protected:
  void check(const PermuteKernel& kernel, const IndexMap& map, const PermuteShape& shape, std::uint64_t rows,
             std::size_t x_offset, std::size_t y_offset) {
    const permutation::RowBytes bytes = permutation::row_bytes(map, shape);
    const std::size_t block = shape.inner * shape.element_bytes;
    const Bytes x = random_bytes(k_guard_bytes + x_offset + bytes.extent_in(rows) + k_guard_bytes, 17);
    Bytes y = shape.in_place ? x : random_bytes(k_guard_bytes + y_offset + bytes.extent_out(rows) + k_guard_bytes, 4);
    const DeviceArray<unsigned char> from(x);
    const DeviceArray<unsigned char> apart(y);
    const DeviceArray<unsigned char>& to = shape.in_place ? from : apart;
    const std::size_t x_at = k_guard_bytes + x_offset;
    const std::size_t y_at = k_guard_bytes + (shape.in_place ? x_offset : y_offset);
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t j = 0; j < map.size(); ++j) {
        std::memcpy(&y[y_at + row * bytes.stride_out + j * block], &x[x_at + row * bytes.stride_in + map[j] * block],
                    block);
      }
    }
    kernel(to.get() + y_at, from.get() + x_at, rows);
    const Bytes found = to.read();
    const auto wrong = std::mismatch(found.begin(), found.end(), y.begin()).first;
    EXPECT_TRUE(wrong == found.end()) << "first wrong byte at " << wrong - found.begin() << " of " << found.size()
                                      << ", y from " << y_at << ", rows " << rows << ", x_offset " << x_offset << ", "
                                      << kernel.strategy();
  }

  Permuter permuter{service};
};

class RowShapes : public RowsTest, public testing::WithParamInterface<Case> {};

TEST_P(RowShapes, AreMovedAsDefined) {
  const Case& item = GetParam();
  const IndexMap map = make_map(item.size, item.source_size);
  for (unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
    SCOPED_TRACE("element_bytes " + std::to_string(bytes));
    PermuteShape shape{.element_bytes = bytes, .inner = item.inner, .typical_rows = item.typical_rows};
    shape.row_stride_in = item.source_size * item.inner + item.pad_in;
    shape.row_stride_out = item.size * item.inner + item.pad_out;
    shape.in_place = item.in_place;
    const PermuteKernel kernel = permuter.get(map, shape);
    if (!item.strategy.empty()) {
      EXPECT_EQ(kernel.strategy(), item.strategy);
    }
    const std::uint64_t most =
        (std::uint64_t{1} << 23) / (std::max(shape.row_stride_in, shape.row_stride_out) * bytes) + 2;
    for (std::uint64_t rows : {1U, 2U, 5U, 129U, 10'007U}) {
      if (rows <= most) {
        check(kernel, map, shape, rows, 0, 0);
      }
    }
    for (auto [x_offset, y_offset] : {std::pair(bytes, 0U), {0U, bytes}, {bytes, 3 * bytes}, {8U, 8U}, {13U, 7U}}) {
      check(kernel, map, shape, std::min<std::uint64_t>(most, 37), x_offset / bytes * bytes, y_offset / bytes * bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, RowShapes,
                         testing::Values(Case{"one", 1, 1, 1, 1, 1, false, 0, ""},
                                         Case{"three", 3, 3, 1, 1, 1, false, 0, "rows"},
                                         Case{"features", 36, 36, 1, 4, 12, false, 0, "rows"},
                                         Case{"odd_strides", 36, 36, 1, 1, 3, false, 0, "rows"},
                                         Case{"pitched_input", 37, 37, 1, 11, 0, false, 0, "rows"},
                                         Case{"pitched_output", 37, 37, 1, 0, 27, false, 0, "rows"},
                                         Case{"few_rows", 37, 37, 1, 3, 0, false, 1, "elements"},
                                         Case{"more_than_sources", 100, 37, 1, 3, 5, false, 0, "rows"},
                                         Case{"fewer_than_sources", 40, 64, 1, 3, 5, false, 0, ""},
                                         Case{"inner_of_three", 50, 50, 3, 2, 1, false, 0, "rows"},
                                         Case{"inner_of_sixteen", 50, 50, 16, 16, 32, false, 0, ""},
                                         Case{"thousand", 1000, 1000, 1, 24, 1, false, 0, "rows"},
                                         Case{"page", 4096, 4096, 1, 4, 0, false, 0, "rows"},
                                         Case{"long", 14'001, 14'001, 1, 3, 5, false, 0, ""},
                                         Case{"too_long", 300'007, 300'007, 1, 1, 1, false, 0, "elements"},
                                         Case{"in_place_three", 3, 3, 1, 0, 0, true, 0, "rows"},
                                         Case{"in_place", 36, 36, 1, 0, 0, true, 0, "rows"},
                                         Case{"in_place_odd", 37, 37, 1, 0, 0, true, 0, "rows"},
                                         Case{"in_place_pitched", 37, 37, 1, 5, 5, true, 0, "rows"},
                                         Case{"in_place_inner", 37, 37, 3, 1, 1, true, 0, "rows"},
                                         Case{"in_place_page", 4096, 4096, 1, 0, 0, true, 0, "rows"},
                                         Case{"in_place_long", 3'001, 3'001, 1, 0, 0, true, 0, "rows"}),
                         [](const auto& shape) { return shape.param.name; });

TEST_F(RowsTest, ColumnsOfAMatrixMoveToOthersOfIt) {
  constexpr std::uint64_t k_rows = 1000;
  constexpr std::uint64_t k_width = 100;
  const IndexMap map = make_map(40, 40);
  const PermuteKernel kernel = permuter.get(map, {.row_stride_in = k_width, .row_stride_out = k_width});
  std::vector<std::uint32_t> matrix(k_rows * k_width);
  std::generate(matrix.begin(), matrix.end(), std::mt19937(3));
  const DeviceArray<std::uint32_t> on_device(matrix);
  kernel(on_device.get() + 50, on_device.get() + 3, k_rows);
  for (std::uint64_t row = 0; row < k_rows; ++row) {
    for (std::uint64_t j = 0; j < map.size(); ++j) {
      matrix[row * k_width + 50 + j] = matrix[row * k_width + 3 + map[j]];
    }
  }
  EXPECT_TRUE(on_device.read() == matrix);
  EXPECT_THROW(kernel(on_device.get() + 42, on_device.get() + 3, k_rows), Error);
}

/// Elements of a type: special ones, and random bits; of 16 bits or fewer all there are.
std::vector<std::byte> elements_of(const test::NumberReference& type, std::size_t count) {
  std::vector<std::byte> elements(count * type.bytes());
  std::mt19937_64 random(8);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = type.bytes() <= 2 ? i : random();
    std::memcpy(&elements[i * type.bytes()], &bits, type.bytes());
  }
  if (type.bytes() > 2) {  // near the numbers that narrow formats have, and in the middle of two
    for (std::size_t i = 0; i < count / 2; ++i) {
      const double near = std::ldexp(1.0 + static_cast<double>(random() % 4096) / 4096, static_cast<int>(i % 60) - 40);
      type.write(i % 2 == 0 ? near : -near, &elements[i * type.bytes()]);
    }
  }
  return elements;
}

TEST_F(RowsTest, EndingsConvertAsDefined) {
  constexpr std::size_t k_size = 256;
  constexpr std::size_t k_rows = 256;
  const IndexMap map = make_map(k_size, k_size);
  for (const char* from_name : {"f32", "f64", "f16", "bf16", "e4m3", "e5m2", "i8", "u16", "i32", "u32"}) {
    for (const char* to_name : {"f16", "bf16", "e4m3", "e5m2", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32"}) {
      for (const PermuteStrategy strategy : {PermuteStrategy::rows, PermuteStrategy::elements}) {
        SCOPED_TRACE(std::string(from_name) + " to " + to_name + ", " + std::string(strategy_name(strategy)));
        const test::NumberReference from(from_name);
        const test::NumberReference to(to_name);
        PermuteShape shape{.element_bytes = static_cast<unsigned>(from.bytes()), .strategy = strategy};
        shape.ending = PermuteEnding{.from = from_name, .to = to_name, .expression = "value"};
        const PermuteKernel kernel = permuter.get(map, shape);
        const std::vector<std::byte> x = elements_of(from, k_rows * k_size);
        const DeviceArray<std::byte> x_there(x);
        const DeviceArray<std::byte> y_there(k_rows * k_size * to.bytes());
        kernel(y_there.get(), x_there.get(), k_rows);
        const std::vector<std::byte> y = y_there.read();
        int wrong = 0;
        for (std::size_t i = 0; i < k_rows * k_size; ++i) {
          const double number = from.read(&x[(i / k_size * k_size + map[i % k_size]) * from.bytes()]);
          std::vector<std::byte> expected(to.bytes());
          to.write(number, expected.data());
          const std::byte* found = &y[i * to.bytes()];
          const bool both_nan = std::isnan(to.read(expected.data())) && std::isnan(to.read(found));
          if (!both_nan && !std::equal(expected.begin(), expected.end(), found) && ++wrong < 5) {
            ADD_FAILURE() << std::hexfloat << number << " became " << to.read(found);
          }
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  }
}

TEST_F(RowsTest, EndingsComputeWithListsAndPositions) {
  constexpr std::size_t k_size = 37;
  constexpr std::size_t k_rows = 1000;
  const IndexMap map = make_map(k_size, k_size);
  PermuteShape shape{.row_stride_in = 41, .row_stride_out = 39};
  shape.ending = PermuteEnding{.to = "bf16", .expression = "value * scale[position] + 1.0f"};
  std::vector<float>& scale = shape.ending->lists["scale"];
  for (std::size_t j = 0; j < k_size; ++j) {
    scale.push_back(static_cast<float>(j) / 4);
  }
  std::vector<float> x((k_rows - 1) * 41 + k_size);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 97) - 48;  // products are exact, so that it is no matter whether they are rounded
  }
  const DeviceArray<float> x_there(x);
  const DeviceArray<std::uint16_t> y_there(std::vector<std::uint16_t>((k_rows - 1) * 39 + k_size, 0xA5A5));
  permuter.get(map, shape)(y_there.get(), x_there.get(), k_rows);
  std::vector<std::uint16_t> expected((k_rows - 1) * 39 + k_size, 0xA5A5);
  for (std::size_t row = 0; row < k_rows; ++row) {
    for (std::size_t j = 0; j < k_size; ++j) {
      test::NumberReference("bf16").write(double{x[row * 41 + map[j]]} * scale[j] + 1,
                                          reinterpret_cast<std::byte*>(&expected[row * 39 + j]));
    }
  }
  EXPECT_TRUE(y_there.read() == expected);
}

TEST_F(RowsTest, InPlaceTakesOneBufferAlone) {
  const PermuteKernel kernel = permuter.get(make_map(36, 36), {.in_place = true});
  DeviceArray<unsigned char> x(1024);
  DeviceArray<unsigned char> y(1024);
  EXPECT_THROW(kernel(y.get(), x.get(), 1), Error);
  EXPECT_THROW(kernel(x.get() + 4, x.get(), 1), Error);
  kernel(x.get(), x.get(), 1);
}

}  // namespace
}  // namespace kiln
