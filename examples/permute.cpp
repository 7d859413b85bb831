// A fixed permutation of features, y[b, j] = x[b, map[j]], verified element by element.
#include <numeric>
#include <vector>

#include "gpu_or_cpu.hpp"
#include "kiln/emulator.hpp"
#include "kiln/permuter.hpp"

int main(int count, char** arguments) {
  return example::run([&] {
    kiln::Permutation map(count > 1 ? kiln::IndexMap::read(arguments[1])
                                    : kiln::IndexMap::parse("2, 0, 3, 1", "the default map"));
    constexpr std::uint64_t k_rows = 10;
    std::vector<float> x(k_rows * map.size());
    std::iota(x.begin(), x.end(), 0.0F);
    std::vector<float> y(x.size());
    kiln::PermuteShape shape{.element_bytes = sizeof(float), .typical_rows = k_rows};

    if (auto gpu = example::find_gpu()) {
      kiln::Permuter permuter{kiln::Service()};
      kiln::PermuteKernel permute = permuter.get(map, shape);
      kiln::DeviceBuffer from(x.size() * sizeof(float));
      kiln::DeviceBuffer to(y.size() * sizeof(float));
      from.upload(std::as_bytes(std::span(x)));
      permute(to.data(), from.data(), k_rows);
      to.download(std::as_writable_bytes(std::span(y)));
    } else {
      kiln::PermuteRequest request = kiln::plan_permute(map, shape, example::k_target_without_gpu);
      kiln::EmulatedKernel kernel(kiln::instantiate(request.tmpl, request.values), example::k_target_without_gpu);
      if (!request.table.empty()) {
        kernel.set_data(request.module_data());
      }
      void* to = y.data();
      const void* from = x.data();
      std::vector<std::byte> scratch(request.scratch_bytes(k_rows));
      kiln::run_steps(request.steps, to, from, scratch.data(), k_rows,
                      [&](const kiln::LaunchConfig& config, std::span<const kiln::Argument> launched) {
                        kernel.launch(config, launched);
                      });
    }

    for (std::uint64_t row = 0; row < k_rows; ++row) {
      for (std::uint64_t j = 0; j < map.size(); ++j) {
        if (y[row * map.size() + j] != x[row * map.size() + map[j]]) {
          std::printf("row %llu, position %llu is WRONG\n", static_cast<unsigned long long>(row),
                      static_cast<unsigned long long>(j));
          return false;
        }
      }
    }
    std::printf("%zu elements verified\n", y.size());
    return true;
  });
}
