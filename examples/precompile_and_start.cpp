// A pack made ahead of time, as a build host would, and an application that starts from it without a compiler.
#include <filesystem>

#include "gpu_or_cpu.hpp"
#include "kiln/permuter.hpp"
#include "kiln/plan.hpp"

int main(int count, char** arguments) {
  return example::run([&] {
    std::filesystem::path pack = count > 1 ? arguments[1] : "example.kilnpack";
    std::filesystem::remove(pack);
    auto gpu = example::find_gpu();
    kiln::Target target = gpu ? gpu->target() : example::k_target_without_gpu;
    kiln::IndexMap map = kiln::IndexMap::parse("2, 1, 0", "the map");
    kiln::PermuteShape shape{.element_bytes = 1};
    kiln::PermuteRequest request = kiln::plan_permute(map, shape, target);

    // On the build host. `kiln precompile PLAN.json` does the same from a file.
    kiln::Plan plan{{{"RGB to BGR", request.tmpl, request.values, {target}}}};
    kiln::PrecompileOptions precompile;
    precompile.output = pack;
    kiln::PrecompileResult made = kiln::precompile(plan, precompile);
    std::printf("%zu compiled, %zu failed\n", made.progress.compiled, made.progress.failed);

    // On the fleet: no compiler, no cache directory, and a kernel that the pack lacks would be an error.
    kiln::ServiceOptions options;
    options.packs = {pack};
    options.strict = true;
    options.nvrtc = "/nonexistent/libnvrtc.so";
    kiln::Service service(options);
    kiln::Lookup found = service.find_or_compile(request.tmpl, request.values, target);
    std::printf("served from: %s\n", kiln::name_of(found.outcome));
    if (gpu) {
      kiln::PermuteKernel kernel = kiln::Permuter(service).get(map, shape);
      std::printf("loaded: %s\n", kernel.strategy().c_str());
    }
    return found.outcome == kiln::Outcome::pack;
  });
}
