// The service in 30 lines: a value known at run time becomes a literal in a kernel that is compiled once and kept.
#include "kiln/service.hpp"

#include <algorithm>
#include <vector>

#include "gpu_or_cpu.hpp"
#include "kiln/emulator.hpp"

constexpr const char* k_scale = R"(// kiln: parameter factor: f32
// kiln: entry scale
#include "kiln/values.h"
__global__ void scale(float* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= kiln::factor;
}
)";

int main() {
  return example::run([] {
    kiln::Template scale = kiln::Template::from_text("scale.cu", k_scale);
    kiln::Values values{{"factor", 2.5}};
    std::vector<float> x(1000, 4.0F);
    auto n = static_cast<unsigned>(x.size());
    kiln::LaunchConfig config{.grid = {(n + 255) / 256}, .block = {256}};
    if (auto gpu = example::find_gpu()) {
      kiln::Service service;
      kiln::Kernel kernel = service.get(scale, values);  // compiled at most once on this machine
      kiln::DeviceBuffer memory(n * sizeof(float));
      memory.upload(std::as_bytes(std::span(x)));
      kernel.launch(config, memory.data(), n);
      memory.download(std::as_writable_bytes(std::span(x)));
    } else {
      kiln::EmulatedKernel kernel(kiln::instantiate(scale, values), example::k_target_without_gpu);
      kernel(config, x.data(), n);
    }
    bool right = std::ranges::all_of(x, [](float value) { return value == 10.0F; });
    std::printf("4 * 2.5 = %g, %s\n", static_cast<double>(x.front()), right ? "every element is right" : "WRONG");
    return right;
  });
}
