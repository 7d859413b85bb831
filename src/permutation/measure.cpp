#include "permutation/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "jit/driver.hpp"
#include "jit/driver_api.hpp"
#include "jit/stopwatch.hpp"
#include "jit/stream_memory.hpp"
#include "jit/unload_queue.hpp"
#include "kiln/error.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_busy_bytes = std::uint64_t{256} << 20;  // of x and y together, past any L2 cache
constexpr std::uint64_t k_most_bytes = std::uint64_t{512} << 20;
constexpr std::uint64_t k_most_scratch_bytes = std::uint64_t{512} << 20;
constexpr std::size_t k_turns = 5;
constexpr double k_turn_ms = 0.2;  // in launches one after another, so that single ones' starts count little
constexpr double k_most_launches = 64;

std::uint64_t rows_for(std::uint64_t typical_rows, std::uint64_t row_bytes) noexcept {
  const std::uint64_t rows =
      typical_rows == 0 ? k_busy_bytes / row_bytes : std::min(typical_rows, k_most_bytes / row_bytes);
  return std::max(rows, std::uint64_t{1});
}

/// x, y and scratch memory for so many rows.
class Buffers {
 public:
  Buffers(const std::shared_ptr<const jit::Driver>& driver, const std::vector<PermuteKernel>& kernels,
          const RowBytes& bytes, std::uint64_t rows, Stream stream)
      : x_(driver, rows * bytes.in, stream, k_what),
        y_(driver, rows * bytes.out, stream, k_what),
        scratch_bytes_(scratch_bytes(kernels, rows)),
        scratch_(driver, std::max(scratch_bytes_, std::uint64_t{1}), stream, k_what) {}

  void run(const PermuteKernel& kernel, std::uint64_t rows, Stream stream) const {
    kernel(y_.data(), x_.data(), rows, {scratch_.data(), scratch_bytes_}, stream);
  }

 private:
  static constexpr const char* k_what = "memory to measure permute kernels with";

  /// What the hungriest wants, or one row where that is too much.
  static std::uint64_t scratch_bytes(const std::vector<PermuteKernel>& kernels, std::uint64_t rows) {
    std::uint64_t bytes = 0;
    for (const PermuteKernel& kernel : kernels) {
      const std::uint64_t wanted = kernel.scratch_bytes(rows);
      bytes = std::max(
          bytes, wanted > k_most_scratch_bytes ? std::max(kernel.scratch_bytes(1), k_most_scratch_bytes) : wanted);
    }
    return bytes;
  }

  jit::StreamMemory x_;
  jit::StreamMemory y_;
  std::uint64_t scratch_bytes_;
  jit::StreamMemory scratch_;
};

double median(std::array<double, k_turns>& times) {
  std::nth_element(times.begin(), times.begin() + k_turns / 2, times.end());
  return times[k_turns / 2];
}

/// Turn by turn, so that what disturbs the device disturbs all of them.
std::vector<double> times_of(const std::vector<PermuteKernel>& kernels, const Buffers& buffers, std::uint64_t rows,
                             const jit::DeviceStopwatch& stopwatch) {
  const auto time = [&](const PermuteKernel& kernel, std::uint64_t launches) {
    return stopwatch.milliseconds([&] {
      for (std::uint64_t launch = 0; launch < launches; ++launch) {
        buffers.run(kernel, rows, stopwatch.stream());
      }
    });
  };
  std::vector<std::uint64_t> launches;
  for (const PermuteKernel& kernel : kernels) {
    time(kernel, 1);  // a first launch may still load something
    const double once = std::max(time(kernel, 1), k_turn_ms / k_most_launches);
    launches.push_back(static_cast<std::uint64_t>(std::ceil(k_turn_ms / once)));
  }
  std::vector<std::array<double, k_turns>> times(kernels.size());
  for (std::size_t turn = 0; turn < k_turns; ++turn) {
    for (std::size_t number = 0; number < kernels.size(); ++number) {
      times[number][turn] = time(kernels[number], launches[number]) / static_cast<double>(launches[number]);
    }
  }
  std::vector<double> medians(kernels.size());
  std::ranges::transform(times, medians.begin(), median);
  return medians;
}

}  // namespace

std::vector<double> measure(const std::vector<PermuteKernel>& kernels, const RowBytes& bytes,
                            std::uint64_t typical_rows) {
  const std::shared_ptr<const jit::Driver> driver = jit::Driver::open();
  const jit::RelaxedCapture relaxed(driver->api());  // another context's stream may be being captured
  const jit::DeviceStopwatch stopwatch(driver);
  std::uint64_t rows = rows_for(typical_rows, bytes.in + bytes.out);
  for (;; rows = (rows + 1) / 2) {
    try {
      const Buffers buffers(driver, kernels, bytes, rows, stopwatch.stream());
      return times_of(kernels, buffers, rows, stopwatch);
    } catch (const DriverError& error) {
      if (error.result() != jit::k_cuda_out_of_memory || rows == 1) {
        throw;
      }
    }
  }
}

}  // namespace kiln::permutation
