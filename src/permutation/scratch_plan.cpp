#include "permutation/scratch_plan.hpp"

#include <algorithm>
#include <string>

#include "kiln/error.hpp"

#include "permutation/sizes.hpp"

namespace kiln::permutation {

namespace {

// Two launches for each so many bytes: their beginnings and ends are then short beside them.
constexpr std::uint64_t k_busy_bytes = std::uint64_t{512} << 20;
// Bundles a group: with fewer, the blocks wait for the first and for the last longer than the cache saves.
constexpr std::uint64_t k_relay_bundles = 4;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

struct Buffer {
  const char* name;
  std::uint64_t start;
  std::uint64_t bytes;
};

}  // namespace

std::uint64_t ScratchPlan::counter_bytes() const noexcept {
  constexpr std::uint64_t k_counters = 2;  // of each bundle in a ring
  return divide_up(k_counters * sizeof(std::uint32_t) * groups * ring, k_vector_bytes) * k_vector_bytes;
}

std::uint64_t ScratchPlan::bundles(std::uint64_t rows) const noexcept { return divide_up(rows, bundle_rows); }

std::uint64_t ScratchPlan::relay_bytes() const noexcept { return counter_bytes() + bundle_bytes * groups * ring; }

bool ScratchPlan::relays(std::uint64_t rows, std::uint64_t bytes) const noexcept {
  return groups > 0 && bundles(rows) >= k_relay_bundles * groups && bytes >= relay_bytes();
}

std::uint64_t ScratchPlan::bytes(std::uint64_t rows) const noexcept {
  if (bundle_bytes == 0) {
    return 0;
  }
  if (relays(rows, relay_bytes())) {
    return relay_bytes();
  }
  return std::min(bundles(rows), std::max(k_busy_bytes / bundle_bytes, std::uint64_t{1})) * bundle_bytes;
}

std::uint64_t ScratchPlan::rows_at_once(std::uint64_t rows, std::uint64_t bytes) const noexcept {
  const std::uint64_t most = std::max(bytes / bundle_bytes, std::uint64_t{1});
  return divide_up(bundles(rows), divide_up(bundles(rows), most)) * bundle_rows;
}

std::uint64_t ScratchPlan::bytes_used(std::uint64_t rows, std::uint64_t bytes) const noexcept {
  return relays(rows, bytes) ? relay_bytes() : bundles(rows_at_once(rows, bytes)) * bundle_bytes;
}

void check_scratch(const PermuteScratch& scratch, const ScratchPlan& plan, const void* y, const void* x,
                   std::uint64_t rows, const RowBytes& bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(scratch.data);
  if (begin == 0) {
    refuse("scratch is null: it must be device memory");
  }
  if (begin % k_vector_bytes != 0) {
    refuse("scratch is " + std::to_string(begin % k_vector_bytes) + " bytes off: it must be aligned to 16 bytes");
  }
  if (scratch.bytes < plan.bundle_bytes) {
    refuse("scratch has " + std::to_string(scratch.bytes) + " bytes: one row, and those that move with it, need " +
           std::to_string(plan.bundle_bytes) + "; PermuteKernel::scratch_bytes tells how many serve best");
  }
  const std::uint64_t used = plan.bytes_used(rows, scratch.bytes);
  for (const auto& [name, start, length] : {Buffer{"x", reinterpret_cast<std::uintptr_t>(x), rows * bytes.in},
                                            Buffer{"y", reinterpret_cast<std::uintptr_t>(y), rows * bytes.out}}) {
    if (begin < start + length && start < begin + used) {
      refuse("scratch and " + std::string(name) + " overlap: scratch must be a buffer of its own");
    }
  }
}

}  // namespace kiln::permutation
