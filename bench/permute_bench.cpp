// Permutations beside the driver's copy, a copy kernel and the table kernels that people write by hand: GPU times of
// the same bytes in the same run, as ratios to the copy; one node of a graph for small launches; and what a request
// costs.
//
//     permute_bench [--bytes N] [--only TEXT] [--json FILE]
//
// N: bytes of x, 1 GiB unless given. TEXT: only shapes whose name has it, "u32 N=1048576" for one, "long" for rows that
// no block's shared memory holds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "kiln/dtype.hpp"
#include "kiln/permuter.hpp"
#include "kiln/service.hpp"
#include "permute_shapes.hpp"
#include "support/gpu.hpp"

namespace {

using namespace kiln;
using bench::Shape;

constexpr int k_nodes = 200;                        // of a graph, so that one node's time can be told
constexpr std::uint64_t k_constant_bytes = 65'536;  // constant memory of a module

/// Reads 16 bytes and writes them: what a permutation can hope for.
Kernel copy_kernel(const Service& service) {
  return service.get(Template::from_text("copy.cu",
                                         "// kiln: entry copy\n"
                                         "__global__ void copy(uint4* y, const uint4* x, unsigned long long n) {\n"
                                         "  unsigned long long i = blockIdx.x * 256ull + threadIdx.x;\n"
                                         "  if (i < n) y[i] = x[i];\n"
                                         "}\n"),
                     {});
}

/// The kernel that people write: one thread an element, the table in memory of the given kind.
Kernel table_kernel(const Service& service, const Shape& shape, const IndexMap& map, const std::string& memory) {
  const char* const types[] = {"unsigned char", "unsigned short", "unsigned int", "uint2", "uint4"};
  unsigned log2 = 0;
  while (1U << log2 < shape.element_bytes) {
    ++log2;
  }
  return service.get(Template::from_text("table.cu",
                                         "// kiln: parameter element: type\n"
                                         "// kiln: parameter size: u32\n"
                                         "// kiln: parameter inner: u32\n"
                                         "// kiln: entry gather\n"
                                         "#include \"kiln/values.h\"\n"
                                         "extern \"C\" {\n" +
                                             memory +
                                             " unsigned int table[kiln::size];\n}\n"
                                             "__global__ void gather(kiln::element* y, const kiln::element* x,\n"
                                             "                       unsigned long long n) {\n"
                                             "  constexpr unsigned row = kiln::size * kiln::inner;\n"
                                             "  unsigned long long i = blockIdx.x * 256ull + threadIdx.x;\n"
                                             "  if (i >= n) return;\n"
                                             "  unsigned j = i % row / kiln::inner;\n"
                                             "  y[i] = x[i / row * row + table[j] * kiln::inner + i % kiln::inner];\n"
                                             "}\n"),
                     {{"element", TypeName{types[log2]}}, {"size", shape.size}, {"inner", shape.inner}},
                     Target::native(), {"table", std::as_bytes(map.sources())});
}

LaunchConfig one_thread_each(std::uint64_t items, CUstream_st* stream) {
  LaunchConfig config;
  config.grid.x = static_cast<unsigned>((items + 255) / 256);
  config.block.x = 256;
  config.stream = stream;
  return config;
}

class Bench {
 public:
  Bench(bench::Report& report, const Service& service, std::uint64_t bytes)
      : report_(report), service_(service), permuter_(service), copy_(copy_kernel(service)), x_(bytes), y_(bytes) {}

  /// Copies until the GPU's clocks have settled; else the first shapes are compared with a slow copy.
  void warm_up() {
    const std::function<void()> copy = copy_async(x_.size());
    for (int run = 0; run < 500; ++run) {
      copy();
    }
    stream_.synchronize();
  }

  void large(const Shape& shape) {
    const IndexMap map = map_of(shape);
    const std::uint64_t row_bytes = shape.size * shape.inner * shape.element_bytes;
    const std::uint64_t room = (x_.size() - 64) / row_bytes;
    const std::uint64_t rows = shape.rows == 0 ? room : std::min(shape.rows, room);
    const std::uint64_t bytes = rows * row_bytes;
    unsigned char* y = y_.get() + shape.y_offset * shape.element_bytes;
    const unsigned char* x = x_.get() + shape.x_offset * shape.element_bytes;
    const PermuteShape wanted{.element_bytes = shape.element_bytes,
                              .inner = shape.inner,
                              .typical_rows = shape.rows,
                              .strategy = shape.strategy};
    PermuteKernel permute = permuter_.get(map, wanted);
    const std::uint64_t scratch_bytes = permute.scratch_bytes(rows);
    const test::DeviceArray<unsigned char> scratch(scratch_bytes);
    std::vector<bench::Case> cases{{"memcpy", copy_async(bytes), {}},
                                   {"copy kernel", vector_copy(bytes), {}},
                                   {"kiln " + permute.strategy(),
                                    [&] { permute(y, x, rows, {scratch.get(), scratch_bytes}, stream_.get()); },
                                    {}}};
    if (scratch_bytes != 0) {
      cases.push_back(
          {"kiln " + permute.strategy() + ", scratch allocated", [&] { permute(y, x, rows, stream_.get()); }, {}});
    }
    if (shape.x_offset + shape.y_offset == 0) {
      cases.push_back({"table kernel", table_launch(shape, map, "__device__", rows), {}});
      if (shape.size * 4 <= k_constant_bytes) {
        cases.push_back({"__constant__ table kernel", table_launch(shape, map, "__constant__", rows), {}});
      }
    }
    std::vector<bench::Result> results = bench::measure_gpu(cases, stream_.get());
    const PermuteRequest plan = plan_permute(map, wanted, service_.resolve(Target::native()));
    for (bench::Result& result : results) {
      const double expected = expected_of(result.name, plan.candidates);
      result.name = name_of(shape) + ", " + result.name;
      report_.add(result, {{"GB/s", 2.0 * static_cast<double>(bytes) / result.median_ns},
                           {"of memcpy", results.front().median_ns / result.median_ns},
                           {"expected", expected}});
    }
  }

  /// Beside a copy of as many bytes as are read and written, and where they are pitched the driver's copy of such rows.
  void rows(const bench::RowShape& item) {
    const IndexMap map = map_of(Shape{item.shape.element_bytes, item.size});
    const unsigned in = item.shape.element_bytes;
    const unsigned out = item.shape.ending ? dtype_bytes(item.shape.ending->to) : in;
    const std::uint64_t longest = std::max(std::max(item.size, item.shape.row_stride_in) * in,
                                           std::max(item.size, item.shape.row_stride_out) * out);
    const std::uint64_t rows = (x_.size() - 64) / longest;
    const std::uint64_t moved = rows * item.size * (in + out);
    PermuteKernel permute = permuter_.get(map, item.shape);
    unsigned char* const y = item.shape.in_place ? x_.get() : y_.get();
    std::vector<bench::Case> cases{
        {"memcpy", copy_async(moved / 2), {}},
        {"kiln " + permute.strategy(), [&] { permute(y, x_.get(), rows, stream_.get()); }, {}}};
    if (item.shape.row_stride_in != 0) {
      cases.push_back({"memcpy 2D", copy_2d(item, rows), {}});
    }
    std::vector<bench::Result> results = bench::measure_gpu(cases, stream_.get());
    for (bench::Result& result : results) {
      result.name = item.name + ", " + result.name;
      report_.add(result, {{"GB/s", static_cast<double>(moved) / result.median_ns},
                           {"of memcpy", results.front().median_ns / result.median_ns}});
    }
  }

  /// What the cost model says of the strategy that the case is named after; 0 of other cases.
  static double expected_of(const std::string& name, const std::vector<PermuteCandidate>& candidates) {
    const auto found = std::ranges::find_if(candidates, [&](const PermuteCandidate& candidate) {
      return name == "kiln " + std::string(strategy_name(candidate.strategy));
    });
    return found == candidates.end() ? 0 : found->speed;
  }

  /// One node of a graph that does nothing else.
  void small(const Shape& shape, std::uint64_t rows) {
    const IndexMap map = map_of(shape);
    const std::uint64_t bytes = rows * shape.size * shape.inner * shape.element_bytes;
    PermuteKernel many = permuter_.get(map, {.element_bytes = shape.element_bytes, .inner = shape.inner});
    PermuteKernel chosen =
        permuter_.get(map, {.element_bytes = shape.element_bytes, .inner = shape.inner, .typical_rows = rows});
    std::vector<std::unique_ptr<Graph>> graphs;
    std::vector<bench::Case> cases;
    auto add = [&](const std::string& name, const std::function<void()>& launch) {
      graphs.push_back(std::make_unique<Graph>(stream_, launch));
      cases.push_back({name, [graph = graphs.back().get()] { graph->launch(); }, {}});
    };
    add("copy kernel", vector_copy(bytes));
    add("kiln " + chosen.strategy(), [&] { chosen(y_.get(), x_.get(), rows, stream_.get()); });
    add("kiln " + many.strategy() + " for many rows", [&] { many(y_.get(), x_.get(), rows, stream_.get()); });
    add("table kernel", table_launch(shape, map, "__device__", rows));
    add("__constant__ table kernel", table_launch(shape, map, "__constant__", rows));
    std::vector<bench::Result> results = bench::measure_gpu(cases, stream_.get());
    const double copy_ns = results.front().median_ns;
    for (bench::Result& result : results) {
      const double ratio = result.median_ns / copy_ns;
      result.median_ns /= k_nodes;
      result.min_ns /= k_nodes;
      result.name = name_of(shape) + " rows " + std::to_string(rows) + " in a graph, " + result.name;
      report_.add(result, {{"of copy kernel's time", ratio}});
    }
  }

  void requests() {
    const std::vector<std::int64_t> indices{5,  1, 8,  16, 4,  32, 23, 12, 33, 21, 22, 34, 13, 29, 18, 26, 20, 30,
                                            11, 7, 24, 17, 14, 15, 35, 6,  9,  28, 31, 25, 0,  27, 19, 3,  10, 2};
    const IndexMap map(indices, indices.size());
    permuter_.get(map);
    report_.add(bench::measure(
        {{"Permuter::get, from 36 indices", [&] { permuter_.get(IndexMap(indices, indices.size())); }, {}},
         {"Permuter::get, from an IndexMap", [&] { permuter_.get(map); }, {}},
         {"IndexMap of 36 indices", [&] { IndexMap(indices, indices.size()); }, {}}}));
  }

 private:
  /// `launch`, k_nodes times, as one graph.
  class Graph {
   public:
    Graph(const test::GpuStream& stream, const std::function<void()>& launch) : stream_(stream) {
      test::require(cuda_.begin_capture(stream.get(), 0), "cuStreamBeginCapture");
      for (int node = 0; node < k_nodes; ++node) {
        launch();
      }
      test::require(cuda_.end_capture(stream.get(), &graph_), "cuStreamEndCapture");
      test::require(cuda_.graph_instantiate(&runnable_, graph_, 0), "cuGraphInstantiate");
    }
    ~Graph() {
      cuda_.graph_exec_destroy(runnable_);
      cuda_.graph_destroy(graph_);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    void launch() const { test::require(cuda_.graph_launch(runnable_, stream_.get()), "cuGraphLaunch"); }

   private:
    const test::Cuda& cuda_ = test::Gpu::get().cuda();
    const test::GpuStream& stream_;
    CUgraph_st* graph_ = nullptr;
    CUgraphExec_st* runnable_ = nullptr;
  };

  std::function<void()> copy_async(std::uint64_t bytes) const {
    return [this, bytes] {
      test::require(test::Gpu::get().cuda().copy_async(y_.address(), x_.address(), bytes, stream_.get()),
                    "cuMemcpyDtoDAsync");
    };
  }
  std::function<void()> copy_2d(const bench::RowShape& item, std::uint64_t rows) const {
    test::Cuda::Copy2d copy;
    copy.from = x_.address();
    copy.from_pitch = item.shape.row_stride_in * item.shape.element_bytes;
    copy.to = y_.address();
    copy.to_pitch = item.shape.row_stride_out * item.shape.element_bytes;
    copy.width = item.size * item.shape.element_bytes;
    copy.height = rows;
    return
        [this, copy] { test::require(test::Gpu::get().cuda().copy_2d_async(&copy, stream_.get()), "cuMemcpy2DAsync"); };
  }
  std::function<void()> vector_copy(std::uint64_t bytes) const {
    const unsigned long long vectors = bytes / 16;
    return [this, vectors] { copy_.launch(one_thread_each(vectors, stream_.get()), y_.get(), x_.get(), vectors); };
  }
  std::function<void()> table_launch(const Shape& shape, const IndexMap& map, const std::string& memory,
                                     std::uint64_t rows) const {
    const unsigned long long elements = rows * shape.size * shape.inner;
    return [this, elements, kernel = table_kernel(service_, shape, map, memory)] {
      kernel.launch(one_thread_each(elements, stream_.get()), y_.get(), x_.get(), elements);
    };
  }

  bench::Report& report_;
  const Service& service_;
  Permuter permuter_;
  Kernel copy_;
  test::GpuStream stream_{/*non_blocking=*/true};
  test::DeviceArray<unsigned char> x_;
  test::DeviceArray<unsigned char> y_;
};

ServiceOptions memory_only() {
  ServiceOptions options = ServiceOptions::from_environment();
  options.cache_dir.reset();
  options.packs.clear();
  options.strict = false;
  options.record.clear();
  return options;
}

std::string option(int argc, char** argv, const std::string& name, const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) {
      return argv[i + 1];
    }
  }
  return otherwise;
}

void run(bench::Report& report, std::uint64_t bytes, const std::string& only) {
  const Service service(memory_only());
  Bench bench(report, service, bytes);
  const auto wanted = [&](const std::string& name) { return name.find(only) != std::string::npos; };
  bench.warm_up();
  for (const Shape& shape : bench::permute_grid()) {
    if (wanted(name_of(shape))) {
      bench.large(shape);
    }
  }
  for (const bench::RowShape& item : bench::rows_grid()) {
    if (wanted(item.name)) {
      bench.rows(item);
    }
  }
  for (std::uint64_t rows : {10U, 100U, 1'000U, 10'000U}) {
    if (const Shape shape{4, 36}; wanted(name_of(shape) + " rows " + std::to_string(rows) + " in a graph")) {
      bench.small(shape, rows);
    }
  }
  if (wanted("Permuter::get")) {
    bench.requests();
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string why_not;
  const test::Gpu* gpu = test::Gpu::get(why_not);
  if (gpu == nullptr) {
    std::fprintf(stderr, "permute_bench needs a GPU: %s\n", why_not.c_str());
    return 3;
  }
  try {
    bench::Report report("permute", argc, argv);
    report.note("gpu", gpu->name());
    const std::string bytes = option(argc, argv, "--bytes", std::to_string(std::uint64_t{1} << 30));
    run(report, std::strtoull(bytes.c_str(), nullptr, 10), option(argc, argv, "--only", ""));
    return report.finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "permute_bench: %s\n", error.what());
    return 1;
  }
}
