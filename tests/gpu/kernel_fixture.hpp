#pragma once

#include <string>
#include <vector>

#include "kiln/kernel.hpp"
#include "kiln/service.hpp"
#include "support/gpu_test.hpp"

namespace kiln::test {

/// A service without a disk, and templates for it.
class KernelTest : public GpuTest {
 protected:
  static ServiceOptions options() {
    ServiceOptions options = ServiceOptions::from_environment();  // finds NVRTC where the caller has it
    options.cache_dir.reset();
    options.cache_mode = CacheMode::off;
    options.packs.clear();
    options.strict = false;
    options.record.clear();
    return options;
  }

  /// y[i] = factor * x[i].
  static Template scale() {
    return Template::from_text("scale.cu",
                               "// kiln: parameter factor: f32\n"
                               "// kiln: entry scale\n"
                               "#include \"kiln/values.h\"\n"
                               "__global__ void scale(float* y, const float* x, unsigned n) {\n"
                               "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "  if (i < n) y[i] = kiln::factor * x[i];\n"
                               "}\n");
  }
  Kernel get_scale(float factor, const Target& target = Target::native()) const {
    return service.get(scale(), {{"factor", factor}}, target);
  }

  static LaunchConfig over(std::size_t n, Stream stream = nullptr) {
    LaunchConfig config;
    config.grid.x = static_cast<unsigned>((n + 127) / 128);
    config.block.x = 128;
    config.stream = stream;
    return config;
  }
  static std::vector<float> ramp(std::size_t n) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = static_cast<float>(i);
    }
    return values;
  }
  static std::vector<float> times(float factor, std::vector<float> values) {
    for (float& value : values) {
      value *= factor;
    }
    return values;
  }
  /// Launches `kernel`, a `scale`, in the default stream and gives what it wrote.
  static std::vector<float> run(const Kernel& kernel, std::size_t n = 1000) {
    DeviceArray<float> x(ramp(n));
    DeviceArray<float> y(n);
    kernel.launch(over(n), y.get(), x.get(), static_cast<unsigned>(n));
    return y.read();
  }

  Service service{options()};
};

}  // namespace kiln::test
