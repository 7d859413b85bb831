// A template of one's own, in a file: a literal table of reals and a type.
#include <cmath>
#include <vector>

#include "gpu_or_cpu.hpp"
#include "kiln/emulator.hpp"
#include "kiln/service.hpp"

int main(int count, char** arguments) {
  return example::run([&] {
    kiln::Template polynomial = kiln::Template::from_file(count > 1 ? arguments[1] : "polynomial.cu");
    kiln::Values values{{"element", kiln::TypeName{"double"}},
                        {"coefficients", std::vector<double>{1.0, 0.0, -0.5, 0.0, 1.0 / 24.0}}};
    std::vector<double> x(1000);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<double>(i) / 4000.0;
    }
    std::vector<double> y(x.size());
    auto n = static_cast<unsigned>(x.size());
    kiln::LaunchConfig config{.grid = {(n + 127) / 128}, .block = {128}};

    if (auto gpu = example::find_gpu()) {
      kiln::Kernel kernel = kiln::Service().get(polynomial, values);
      kiln::DeviceBuffer from(n * sizeof(double));
      kiln::DeviceBuffer to(n * sizeof(double));
      from.upload(std::as_bytes(std::span(x)));
      kernel.launch(config, to.data(), from.data(), n);
      to.download(std::as_writable_bytes(std::span(y)));
    } else {
      kiln::EmulatedKernel kernel(kiln::instantiate(polynomial, values), example::k_target_without_gpu);
      kernel(config, y.data(), x.data(), n);
    }

    double worst = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, std::abs(y[i] - std::cos(x[i])));
    }
    std::printf("the cosine's Taylor series is right to %.1e\n", worst);
    return worst < 1e-6;
  });
}
