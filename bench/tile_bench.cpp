// Forced shapes of tiles beside the driver's copy: which tile moves a permutation fastest. The numbers that
// src/permutation/staged.cpp and rows.cpp choose by come from here.
//
//     tile_bench [FILE] [--json FILE]
//
// Without a file: what is chosen for a few shapes, and its neighbours. A line of FILE is one of
//
//     staged ELEMENT N X Y LANES PERIOD PERIODS THREADS RESIDENT ASYNCHRONOUS
//     rows   ELEMENT N X Y LANES LINES THREADS RESIDENT ASYNCHRONOUS LINE_ROWS PAD_IN PAD_OUT
//     chosen ELEMENT N X Y PAD_IN PAD_OUT
//     alike  ELEMENT N X Y
//
// ELEMENT: bytes; X, Y: elements that x and y start behind a boundary; PERIOD: rows of one; PERIODS and LINES: of a
// lane; ASYNCHRONOUS: 0 or 1; PAD_IN and PAD_OUT: elements between rows, -1 for both: in place. It is said which lines
// do not fit.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "kiln/permuter.hpp"
#include "kiln/service.hpp"
#include "permutation/rows.hpp"
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
  PermuteShape wanted;
  std::string text;
  PermuteGeometry geometry;
  std::optional<Kernel> kernel;
  std::string error;
};

/// What is compiled for a candidate.
struct Tile {
  std::string text;
  PermuteRequest request;
};

Tile tile_of(const permutation::Staged& staged, const permutation::BlockMap& blocks) {
  char text[160];
  std::snprintf(text, sizeof text, "staged lanes %u period %-3u tile %6u threads %4u of %4u%s", staged.lanes,
                staged.period_rows, staged.rows_per_tile, staged.threads, staged.resident_threads,
                staged.asynchronous ? " async" : "");
  const std::uint64_t period = staged.period_rows * blocks.row_in_units();
  if (period > 65'536 ||
      (staged.rows_per_tile > staged.lanes * staged.period_rows && period * blocks.unit_bytes % 16 != 0)) {
    throw std::invalid_argument("does not fit");
  }
  return {text, permutation::staged_request(staged, blocks)};
}

Tile tile_of(const permutation::Rows& rows, const permutation::RowMap& map) {
  char text[160];
  std::snprintf(text, sizeof text, "rows lanes %u of %3u lines of %2u rows, %4u apart, threads %4u of %4u%s",
                rows.lanes, rows.lane_lines, rows.line_rows, rows.lane_distance, rows.threads, rows.resident_threads,
                rows.asynchronous ? " async" : "");
  return {text, permutation::rows_request(rows, map)};
}

/// Each line's tile, made when it is compiled.
struct Line {
  Candidate candidate;
  std::function<Tile(const IndexMap&)> tile;
};

Line staged_line(const bench::Shape& shape, const permutation::Staged& staged) {
  Line line;
  line.candidate.shape = shape;
  line.candidate.wanted = {.element_bytes = shape.element_bytes};
  line.tile = [staged, wanted = line.candidate.wanted](const IndexMap& map) {
    return tile_of(staged, permutation::block_map(map, wanted));
  };
  return line;
}

PermuteShape with_pads(const bench::Shape& shape, std::int64_t pad_in, std::int64_t pad_out) {
  PermuteShape wanted{.element_bytes = shape.element_bytes};
  if (pad_in < 0) {
    wanted.in_place = true;
  } else {
    wanted.row_stride_in = shape.size + static_cast<std::uint64_t>(pad_in);
    wanted.row_stride_out = shape.size + static_cast<std::uint64_t>(pad_out);
  }
  return wanted;
}

std::optional<Line> read_line(std::istringstream fields) {
  std::string kind;
  bench::Shape shape{};
  fields >> kind >> shape.element_bytes >> shape.size >> shape.x_offset >> shape.y_offset;
  std::int64_t pad_in = 0;
  std::int64_t pad_out = 0;
  if (kind == "staged") {
    permutation::Staged staged;
    unsigned periods = 0;
    fields >> staged.lanes >> staged.period_rows >> periods >> staged.threads >> staged.resident_threads >>
        staged.asynchronous;
    staged.rows_per_tile = staged.lanes * staged.period_rows * periods;
    staged.index_bits = staged.period_rows * shape.size <= 256 ? 8 : 16;
    return fields ? std::optional(staged_line(shape, staged)) : std::nullopt;
  }
  Line line;
  if (kind == "rows") {
    permutation::Rows rows;
    fields >> rows.lanes >> rows.lane_lines >> rows.threads >> rows.resident_threads >> rows.asynchronous >>
        rows.line_rows >> pad_in >> pad_out;
    line.tile = [rows, wanted = with_pads(shape, pad_in, pad_out)](const IndexMap& map) mutable {
      const permutation::RowMap row_map = permutation::row_map(map, wanted);
      const std::uint64_t sources =
          ((rows.line_rows - 1) * row_map.bytes.stride_in + row_map.bytes.in) / row_map.blocks.unit_bytes;
      rows.index_bits = sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32;
      const auto alike = static_cast<unsigned>(permutation::lines_until_alike(rows.line_rows, row_map.bytes));
      rows.lane_distance = std::lcm(rows.lane_lines, rows.lanes == 1 ? 1U : alike);
      return tile_of(rows, row_map);
    };
  } else if (kind == "alike") {
    line.tile = [wanted = PermuteShape{.element_bytes = shape.element_bytes}](const IndexMap& map) {
      const permutation::Staged staged =
          permutation::choose_staged(permutation::block_map(map, wanted), k_shared_limit).value();
      const permutation::RowMap row_map = permutation::row_map(map, wanted);
      permutation::Rows rows;
      rows.index_bits = staged.index_bits;
      rows.line_rows = staged.period_rows;
      rows.lanes = staged.lanes;
      rows.lane_lines = staged.rows_per_tile / staged.lanes / staged.period_rows;
      rows.lane_distance = std::lcm(
          rows.lane_lines,
          rows.lanes == 1 ? 1U : static_cast<unsigned>(permutation::lines_until_alike(rows.line_rows, row_map.bytes)));
      rows.threads = staged.threads;
      rows.resident_threads = staged.resident_threads;
      rows.asynchronous = staged.asynchronous;
      return tile_of(rows, row_map);
    };
  } else if (kind == "chosen") {
    fields >> pad_in >> pad_out;
    line.tile = [wanted = with_pads(shape, pad_in, pad_out)](const IndexMap& map) {
      PermuteRequest request = plan_permute(map, wanted, Target::cubin(90));
      const unsigned threads = request.steps.front().geometry.threads;
      return Tile{"chosen " + request.strategy + " threads " + std::to_string(threads), std::move(request)};
    };
  }
  line.candidate.shape = shape;
  line.candidate.wanted = with_pads(shape, pad_in, pad_out);
  return fields && line.tile ? std::optional(std::move(line)) : std::nullopt;
}

std::vector<Line> read_lines(const std::string& file) {
  std::ifstream stream(file);
  std::vector<Line> lines;
  std::string text;
  while (std::getline(stream, text)) {
    if (std::optional<Line> line = read_line(std::istringstream(text))) {
      lines.push_back(std::move(*line));
    }
  }
  return lines;
}

std::vector<Line> neighbours_of_choices() {
  std::vector<Line> lines;
  for (unsigned element_bytes : {1U, 2U, 4U, 8U}) {
    for (std::uint64_t size : {37U, 1000U, 4097U}) {
      const bench::Shape shape{element_bytes, size};
      const auto chosen = permutation::choose_staged(
          permutation::block_map(map_of(shape), {.element_bytes = element_bytes}), k_shared_limit);
      for (unsigned resident : {1024U, 1536U, 2048U}) {
        for (unsigned threads : {chosen->threads / 2, chosen->threads, chosen->threads * 2}) {
          permutation::Staged staged = *chosen;
          staged.threads = std::clamp(threads, 32U, 1024U);
          staged.resident_threads = resident;
          lines.push_back(staged_line(shape, staged));
        }
      }
    }
  }
  return lines;
}

Candidate compile(const Line& line, const Service& service) {
  Candidate item = line.candidate;
  try {
    const Tile tile = line.tile(map_of(item.shape));
    item.text = name_of(item.shape) + " " + tile.text;
    if (item.wanted.in_place) {
      item.text += " in place";
    } else if (item.wanted.row_stride_in + item.wanted.row_stride_out > 2 * item.shape.size) {
      item.text += " pitched by " + std::to_string(item.wanted.row_stride_in - item.shape.size) + "," +
                   std::to_string(item.wanted.row_stride_out - item.shape.size);
    }
    item.geometry = tile.request.steps.front().geometry;
    if (item.geometry.shared_bytes > k_shared_limit) {
      throw std::invalid_argument("does not fit");
    }
    item.kernel = service.get(tile.request.tmpl, tile.request.values, Target::native(), tile.request.module_data());
    item.kernel->allow_shared_bytes(item.geometry.shared_bytes);
  } catch (const std::exception& error) {
    item.error = error.what();
  }
  return item;
}

/// On all cores, each in the caller's context.
std::vector<Candidate> compile(const std::vector<Line>& lines, const Service& service) {
  const test::Cuda& cuda = test::Gpu::get().cuda();
  CUctx_st* context = nullptr;
  test::require(cuda.get_current(&context), "cuCtxGetCurrent");
  std::vector<Candidate> candidates(lines.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i) {
    threads.emplace_back([&] {
      test::require(cuda.set_current(context), "cuCtxSetCurrent");
      for (std::size_t item = next++; item < lines.size(); item = next++) {
        candidates[item] = compile(lines[item], service);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return candidates;
}

/// Interleaved with the copy of as many bytes.
std::vector<bench::Result> measure(const Candidate& item, test::DeviceArray<unsigned char>& y,
                                   const test::DeviceArray<unsigned char>& x, const test::GpuStream& stream) {
  const unsigned bytes = item.shape.element_bytes;
  const std::uint64_t longest =
      std::max({item.shape.size, item.wanted.row_stride_in, item.wanted.row_stride_out}) * bytes;
  const unsigned long long rows = (k_bytes - 64) / longest;
  LaunchConfig config = item.geometry.launch(rows);
  config.stream = stream.get();
  void* to = y.get() + item.shape.y_offset * bytes;
  const void* from = (item.wanted.in_place ? y.get() : x.get()) + item.shape.x_offset * bytes;
  const auto copy = [&] {
    test::require(
        test::Gpu::get().cuda().copy_async(y.address(), x.address(), rows * item.shape.size * bytes, stream.get()),
        "cuMemcpyDtoDAsync");
  };
  return bench::measure_gpu(
      {{"memcpy", copy, {}}, {item.text, [&] { item.kernel->launch(config, to, from, rows); }, {}}}, stream.get());
}

void run(bench::Report& report, const std::vector<Line>& lines) {
  ServiceOptions options = ServiceOptions::from_environment();
  options.cache_dir.reset();
  options.packs.clear();
  options.strict = false;
  options.record.clear();
  const Service service(options);
  const std::vector<Candidate> candidates = compile(lines, service);
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
      std::printf("%s %s: %s\n", name_of(item.shape).c_str(), item.text.c_str(), item.error.c_str());
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
    std::fprintf(stderr, "tile_bench needs a GPU: %s\n", why_not.c_str());
    return 3;
  }
  try {
    const bool has_file = argc > 1 && argv[1][0] != '-';
    bench::Report report("tile", argc, argv);
    run(report, has_file ? read_lines(argv[1]) : neighbours_of_choices());
    return report.finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tile_bench: %s\n", error.what());
    return 1;
  }
}
