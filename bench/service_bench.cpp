// What the request path costs: a cold get beside NVRTC alone, a fresh process over a warm cache, and, where there is a
// GPU, a repeated get and a prepared handle.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness.hpp"
#include "jit/nvrtc.hpp"
#include "kiln/device.hpp"
#include "kiln/permuter.hpp"
#include "kiln/service.hpp"
#include "support/temp_dir.hpp"

extern char** environ;

namespace kiln::bench {
namespace {

const std::vector<std::int64_t> k_kernelbench = {5,  1, 8,  16, 4,  32, 23, 12, 33, 21, 22, 34, 13, 29, 18, 26, 20, 30,
                                                 11, 7, 24, 17, 14, 15, 35, 6,  9,  28, 31, 25, 0,  27, 19, 3,  10, 2};

PermuteRequest kernelbench_request(const Target& target) {
  PermuteShape shape;
  shape.typical_rows = 10;
  return plan_permute(IndexMap(k_kernelbench, 36), shape, target);
}

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

/// Runs this program again with `--probe`, in a process of its own, and gives the nanoseconds it prints.
double run_probe(const char* self, const std::filesystem::path& cache, Outcome expected) {
  int ends[2];
  if (pipe(ends) != 0) {
    throw std::runtime_error("cannot make a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::string directory = cache.string();
  std::string self_path = self;
  std::string flag = "--probe";
  std::string outcome = name_of(expected);
  char* arguments[] = {self_path.data(), flag.data(), directory.data(), outcome.data(), nullptr};
  pid_t child = 0;
  int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char text[64] = {};
  bool read_any = failed == 0 && read(ends[0], text, sizeof(text) - 1) > 0;
  close(ends[0]);
  int status = 0;
  if (!read_any || waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error("the probe failed");
  }
  return std::stod(text);
}

/// A fresh process: from the start of main to a verified artifact of the 36-feature permutation.
int probe(double start, const char* directory, const char* expected) {
  ServiceOptions options;
  options.cache_dir = directory;
  Service service(options);
  PermuteRequest request = kernelbench_request(Target::cubin(90));
  Lookup found = service.find_or_compile(request.tmpl, request.values, Target::cubin(90));
  double elapsed = now_ns() - start;
  if (std::strcmp(name_of(found.outcome), expected) != 0) {
    std::fprintf(stderr, "outcome %s, wanted %s\n", name_of(found.outcome), expected);
    return 1;
  }
  std::printf("%.0f\n", elapsed);
  return 0;
}

Result measure_processes(const char* name, const char* self, Outcome expected, int samples) {
  test::TempDir warm;
  if (expected == Outcome::disk) {
    run_probe(self, warm.path(), Outcome::compiled);
  }
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    test::TempDir cold;
    times.push_back(run_probe(self, expected == Outcome::disk ? warm.path() : cold.path(), expected));
  }
  return summarize(name, times);
}

/// Kiln's cold get and NVRTC's compile of the same sources, in turn.
void measure_cold(Report& report) {
  test::TempDir directory;
  ServiceOptions options;
  options.cache_dir = directory.path();
  Service service(options);
  auto nvrtc = jit::Nvrtc::open(jit::find_nvrtc({}));
  Target target = Target::cubin(90);
  Template tmpl =
      Template::from_text("scale.cu",
                          "// kiln: parameter factor: i32\n// kiln: entry scale\n#include \"kiln/values.h\"\n"
                          "__global__ void scale(float* x) { x[threadIdx.x] *= kiln::factor; }\n");
  constexpr int k_samples = 41;
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> differences;
  for (int i = 0; i < k_samples; ++i) {
    Values values{{"factor", i}};
    Source source = instantiate(tmpl, values);
    jit::CompileArguments arguments = jit::compile_arguments(source, target);
    theirs.push_back(elapsed_ns([&] { nvrtc->compile(source, target, arguments); }, 1));
    ours.push_back(elapsed_ns([&] { service.find_or_compile(tmpl, values, target); }, 1));
    differences.push_back(ours.back() - theirs.back());
  }
  report.add(summarize("NVRTC alone, one small kernel", theirs));
  report.add(summarize("cold get of the same kernel", ours));
  report.add(summarize("cold get less NVRTC, pair by pair", differences));
}

void measure_repeated(Report& report) {
  Device device;
  test::TempDir directory;
  ServiceOptions options;
  options.cache_dir = directory.path();
  Service service(options);
  Permuter permuter(service);
  PermuteShape shape;
  shape.typical_rows = 10;
  PermuteRequest request = kernelbench_request(device.target());
  Prepared prepared = service.prepare(request.tmpl, request.values);
  IndexMap map(k_kernelbench, 36);
  report.add(measure({
      {"get from 36 indices, again", [&] { permuter.get(IndexMap(k_kernelbench, 36), shape); }, {}},
      {"get from an index map, again", [&] { permuter.get(map, shape); }, {}},
      {"get from template and values, again", [&] { service.get(request.tmpl, request.values); }, {}},
      {"get from a prepared handle", [&] { prepared.get(); }, {}},
  }));
}

int run(int argc, char** argv) {
  Report report("service", argc, argv);
  report.add(measure_processes("fresh process, warm cache: main to artifact", argv[0], Outcome::disk, 101));
  report.add(measure_processes("fresh process, cold cache: main to artifact", argv[0], Outcome::compiled, 11));
  measure_cold(report);
  std::string why_not;
  if (test::Gpu::get(why_not) != nullptr) {
    measure_repeated(report);
  } else {
    report.note("gpu", "repeated gets are left out: " + why_not);
  }
  return report.finish();
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  double start = kiln::bench::now_ns();
  if (argc == 4 && std::strcmp(argv[1], "--probe") == 0) {
    return kiln::bench::probe(start, argv[2], argv[3]);
  }
  return kiln::bench::run(argc, argv);
}
