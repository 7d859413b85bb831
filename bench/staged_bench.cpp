// Forced shapes of staged tiles beside the driver's copy: which tile moves a permutation fastest. The numbers that
// src/permutation/staged.cpp chooses by come from here.
//
//     staged_bench [FILE] [--json FILE]
//
// Without a file: what is chosen for a few shapes, and its neighbours. A line of FILE: element bytes, N, lanes, rows of
// a period, periods of a lane, threads, resident threads, asynchronous (0 or 1), then elements that x and y start
// behind a boundary. It is said which lines do not fit.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "kiln/permuter.hpp"
#include "kiln/service.hpp"
#include "permutation/staged.hpp"
#include "permutation/strategy.hpp"
#include "permute_shapes.hpp"
#include "support/gpu.hpp"

namespace {

using namespace kiln;

constexpr unsigned k_shared_limit = 227 * 1024;            // of a block, of sm_90
constexpr std::uint64_t k_bytes = std::uint64_t{1} << 30;  // of x

struct Candidate {
  bench::Shape shape;
  permutation::Staged staged;
  unsigned shared_bytes = 0;
  std::optional<Kernel> kernel;
  std::string error;
};

std::vector<Candidate> read_candidates(const std::string& file) {
  std::ifstream stream(file);
  std::vector<Candidate> candidates;
  std::string line;
  while (std::getline(stream, line)) {
    std::istringstream fields(line);
    Candidate item{};
    unsigned periods = 0;
    permutation::Staged& staged = item.staged;
    fields >> item.shape.element_bytes >> item.shape.size >> staged.lanes >> staged.period_rows >> periods >>
        staged.threads >> staged.resident_threads >> staged.asynchronous >> item.shape.x_offset >> item.shape.y_offset;
    if (fields) {
      staged.rows_per_tile = staged.lanes * staged.period_rows * periods;
      staged.index_bits = staged.period_rows * item.shape.size <= 256 ? 8 : 16;
      candidates.push_back(std::move(item));
    }
  }
  return candidates;
}

permutation::BlockMap blocks_of(const bench::Shape& shape) {
  return permutation::block_map(map_of(shape), {.element_bytes = shape.element_bytes});
}

std::vector<Candidate> neighbours_of_choices() {
  std::vector<Candidate> candidates;
  for (unsigned element_bytes : {1U, 2U, 4U, 8U}) {
    for (std::uint64_t size : {37U, 1000U, 4097U}) {
      const bench::Shape shape{element_bytes, size};
      const auto chosen = permutation::choose_staged(blocks_of(shape), k_shared_limit);
      for (unsigned resident : {1024U, 1536U, 2048U}) {
        for (unsigned threads : {chosen->threads / 2, chosen->threads, chosen->threads * 2}) {
          Candidate item{shape, *chosen, 0, {}, {}};
          item.staged.threads = std::clamp(threads, 32U, 1024U);
          item.staged.resident_threads = resident;
          candidates.push_back(std::move(item));
        }
      }
    }
  }
  return candidates;
}

void compile(Candidate& item, const Service& service) {
  const permutation::BlockMap blocks = blocks_of(item.shape);
  const permutation::Staged& staged = item.staged;
  item.shared_bytes = permutation::shared_bytes(staged, blocks);
  const std::uint64_t period = staged.period_rows * item.shape.size;
  if (item.shared_bytes > k_shared_limit || period > 65'536 ||
      (staged.rows_per_tile > staged.lanes * staged.period_rows && period * item.shape.element_bytes % 16 != 0)) {
    item.error = "does not fit";
    return;
  }
  try {
    item.kernel = service.get(Template::builtin("permute_staged"), permutation::staged_values(staged, blocks));
    item.kernel->allow_shared_bytes(item.shared_bytes);
  } catch (const std::exception& error) {
    item.error = error.what();
  }
}

/// On all cores, each in the caller's context.
void compile(std::vector<Candidate>& candidates, const Service& service) {
  const test::Cuda& cuda = test::Gpu::get().cuda();
  CUctx_st* context = nullptr;
  test::require(cuda.get_current(&context), "cuCtxGetCurrent");
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i) {
    threads.emplace_back([&] {
      test::require(cuda.set_current(context), "cuCtxSetCurrent");
      for (std::size_t item = next++; item < candidates.size(); item = next++) {
        compile(candidates[item], service);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

std::string text_of(const Candidate& item) {
  const permutation::Staged& staged = item.staged;
  char text[200];
  std::snprintf(text, sizeof text, "%-26s lanes %u period %-3u tile %6u (%6u B) threads %4u of %4u%s",
                name_of(item.shape).c_str(), staged.lanes, staged.period_rows, staged.rows_per_tile, item.shared_bytes,
                staged.threads, staged.resident_threads, staged.asynchronous ? " async" : "");
  return text;
}

/// Interleaved with the copy of as many bytes.
std::vector<bench::Result> measure(const Candidate& item, test::DeviceArray<unsigned char>& y,
                                   const test::DeviceArray<unsigned char>& x, const test::GpuStream& stream) {
  const std::uint64_t row_bytes = item.shape.size * item.shape.element_bytes;
  const unsigned long long rows = (k_bytes - 64) / row_bytes;
  const PermuteGeometry geometry{item.staged.threads, item.shared_bytes, 1, item.staged.rows_per_tile};
  LaunchConfig config = geometry.launch(rows);
  config.stream = stream.get();
  void* to = y.get() + item.shape.y_offset * item.shape.element_bytes;
  const void* from = x.get() + item.shape.x_offset * item.shape.element_bytes;
  const auto copy = [&] {
    test::require(test::Gpu::get().cuda().copy_async(y.address(), x.address(), rows * row_bytes, stream.get()),
                  "cuMemcpyDtoDAsync");
  };
  return bench::measure_gpu(
      {{"memcpy", copy, {}}, {text_of(item), [&] { item.kernel->launch(config, to, from, rows); }, {}}}, stream.get());
}

void run(bench::Report& report, std::vector<Candidate> candidates) {
  ServiceOptions options = ServiceOptions::from_environment();
  options.cache_dir.reset();
  options.packs.clear();
  options.strict = false;
  options.record.clear();
  const Service service(options);
  compile(candidates, service);
  const test::DeviceArray<unsigned char> x(k_bytes);
  test::DeviceArray<unsigned char> y(k_bytes);
  const test::GpuStream stream(/*non_blocking=*/true);
  for (int warm = 0; warm < 500; ++warm) {
    test::require(test::Gpu::get().cuda().copy_async(y.address(), x.address(), k_bytes, stream.get()),
                  "cuMemcpyDtoDAsync");
  }
  stream.synchronize();
  for (const Candidate& item : candidates) {
    if (!item.kernel) {
      std::printf("%s: %s\n", text_of(item).c_str(), item.error.c_str());
      continue;
    }
    const std::vector<bench::Result> results = measure(item, y, x, stream);
    report.add(results.back(), {{"registers", item.kernel->artifact().entries.front().registers},
                                {"of memcpy", results.front().median_ns / results.back().median_ns}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string why_not;
  if (test::Gpu::get(why_not) == nullptr) {
    std::fprintf(stderr, "staged_bench needs a GPU: %s\n", why_not.c_str());
    return 3;
  }
  try {
    const bool has_file = argc > 1 && argv[1][0] != '-';
    bench::Report report("staged", argc, argv);
    run(report, has_file ? read_candidates(argv[1]) : neighbours_of_choices());
    return report.finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "staged_bench: %s\n", error.what());
    return 1;
  }
}
