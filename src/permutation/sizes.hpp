#pragma once

#include <cstdint>
#include <string>

/// What kernels move at a time, and how sizes are rounded to it.
namespace kiln::permutation {

inline constexpr std::uint64_t k_vector_bytes = 16;  ///< that a thread loads and stores at most
inline constexpr std::uint64_t k_sector_bytes = 32;  ///< that global memory moves at least
inline constexpr std::uint64_t k_warp = 32;          ///< threads

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) noexcept { return (value + by - 1) / by; }
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept {
  return divide_up(value, step) * step;
}

/// "1 row", "2 rows".
inline std::string rows_in_words(std::uint64_t rows) { return std::to_string(rows) + (rows == 1 ? " row" : " rows"); }

/// What does not fit in `limit` bytes of shared memory: "a row of 80000 bytes".
inline std::string row_in_words(std::uint64_t bytes, std::uint64_t limit) {
  return "a row of " + std::to_string(bytes) + " bytes" +
         (bytes <= limit ? ", with what its alignment takes besides," : "");
}

}  // namespace kiln::permutation
