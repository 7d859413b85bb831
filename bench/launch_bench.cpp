// What Kiln adds to a launch and to a load, beside the bare driver calls in the same run.
#include <array>
#include <cstdio>
#include <memory>

#include "harness.hpp"
#include "jit/driver.hpp"
#include "jit/driver_api.hpp"
#include "jit/launch.hpp"
#include "jit/library.hpp"
#include "kiln/service.hpp"
#include "support/gpu.hpp"

namespace {

using namespace kiln;

// Far below the depth of the driver's queue: a full queue would be measured otherwise.
constexpr int k_launches_in_a_sample = 200;

Template add_template() {
  return Template::from_text("add.cu",
                             "// kiln: entry add\n"
                             "__global__ void add(float* y, const float* x, unsigned n) {\n"
                             "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "  if (i < n) y[i] += x[i];\n"
                             "}\n");
}

ServiceOptions memory_only() {
  ServiceOptions options = ServiceOptions::from_environment();
  options.cache_dir.reset();
  options.packs.clear();
  options.strict = false;
  options.record.clear();
  return options;
}

void bench_launches(bench::Report& report, const Kernel& kernel) {
  const test::Cuda& cuda = test::Gpu::get().cuda();
  test::GpuStream stream(/*non_blocking=*/true);
  test::DeviceArray<float> y(128);
  test::DeviceArray<float> x(128);
  float* to = y.get();
  const float* from = x.get();
  unsigned n = 128;
  LaunchConfig config;
  config.block.x = 128;
  config.stream = stream.get();
  std::array<void*, 3> arguments{static_cast<void*>(&to), static_cast<void*>(&from), &n};
  auto wait = [&] { stream.synchronize(); };
  auto bare = [&] { cuda.launch(kernel.function(), 1, 1, 1, 128, 1, 1, 0, stream.get(), arguments.data(), nullptr); };
  auto ours = [&] { kernel.launch(config, to, from, n); };
  std::vector<bench::Result> results =
      bench::measure({{"cuLaunchKernel", bare, wait}, {"Kernel::launch", ours, wait}},
                     {.samples = 501, .batch = k_launches_in_a_sample, .sample_ns = 0});
  report.add(results[0]);
  report.add(results[1], {{"ratio", results[1].median_ns / results[0].median_ns}});
}

void bench_loads(bench::Report& report, const Kernel& kernel) {
  auto driver = jit::Driver::open();
  const jit::DriverApi& api = driver->api();
  auto artifact = std::make_shared<const Artifact>(kernel.artifact());
  const char* symbol = artifact->entries.front().lowered.c_str();
  std::vector<bench::Case> cases;
  if (api.has_libraries()) {
    cases.push_back({"cuLibraryLoadData + kernel + function + unload",
                     [&api, artifact, symbol] {
                       CUlib_st* library = nullptr;
                       CUkern_st* handle = nullptr;
                       CUfunc_st* function = nullptr;
                       const void* image = artifact->image.data();
                       test::require(api.library_load_data(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0),
                                     "cuLibraryLoadData");
                       test::require(api.library_get_kernel(&handle, library, symbol), "cuLibraryGetKernel");
                       test::require(api.kernel_get_function(&function, handle), "cuKernelGetFunction");
                       api.library_unload(library);
                     },
                     {}});
  }
  cases.push_back({"cuModuleLoadData + function + unload",
                   [&api, artifact, symbol] {
                     CUmod_st* module = nullptr;
                     CUfunc_st* function = nullptr;
                     const void* image = artifact->image.data();
                     test::require(api.module_load_data_ex(&module, image, 0, nullptr, nullptr), "cuModuleLoadDataEx");
                     test::require(api.module_get_function(&function, module, symbol), "cuModuleGetFunction");
                     api.module_unload(module);
                   },
                   {}});
  cases.push_back({"jit::load + release", [driver, artifact] { jit::load(driver, artifact, "", {}); }, {}});
  report.add(bench::measure(cases, {.samples = 101}));
}

void bench_requests(bench::Report& report, const Service& service) {
  Template tmpl = add_template();
  Prepared prepared = service.prepare(tmpl, {});
  auto driver = jit::Driver::open();
  report.add(bench::measure({{"Service::get, loaded", [&] { service.get(tmpl, {}); }, {}},
                             {"Prepared::get, loaded", [&] { prepared.get(); }, {}},
                             {"Driver::current_context", [&] { driver->current_context(); }, {}},
                             {"Driver::current_target", [&] { driver->current_target(); }, {}},
                             {"Driver::capture_active", [&] { driver->capture_active(); }, {}}},
                            {.samples = 101}));
}

}  // namespace

int main(int argc, char** argv) {
  std::string why_not;
  const test::Gpu* gpu = test::Gpu::get(why_not);
  if (gpu == nullptr) {
    std::fprintf(stderr, "launch_bench needs a GPU: %s\n", why_not.c_str());
    return 3;
  }
  try {
    bench::Report report("launch", argc, argv);
    report.note("gpu", gpu->name());
    report.note("driver", jit::driver_version_text(gpu->driver_version()));
    Service service(memory_only());
    Kernel kernel = service.get(add_template(), {});
    bench_launches(report, kernel);
    bench_loads(report, kernel);
    bench_requests(report, service);
    return report.finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_bench: %s\n", error.what());
    return 1;
  }
}
