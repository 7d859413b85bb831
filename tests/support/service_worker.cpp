// service_worker CACHE NVRTC KEYS SEED: waits until its standard input ends, then asks a service for kernels 0 … KEYS -
// 1 in an order of its own, and writes one line for each, "NUMBER DIGEST", then one of counters. NVRTC may be empty:
// the one that Kiln finds.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "kiln/service.hpp"
#include "support/sample_template.hpp"

namespace {

/// Of everything in the artifact that a launch depends on.
std::uint64_t digest(const kiln::Artifact& artifact) {
  std::uint64_t state = 14695981039346656037U;
  auto add = [&state](std::string_view text) {
    for (char c : text) {
      state = (state ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
    state = (state ^ text.size()) * 1099511628211U;
  };
  add({reinterpret_cast<const char*>(artifact.image.data()), artifact.image.size()});
  add(artifact.ptx);
  add(artifact.spec);
  add(artifact.key.text());
  for (const kiln::EntryPoint& entry : artifact.entries) {
    add(entry.expression);
    add(entry.lowered);
  }
  return state;
}

int work(int keys, unsigned seed, const kiln::ServiceOptions& options) {
  std::vector<int> numbers(static_cast<std::size_t>(keys));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(seed));
  kiln::Template tmpl = kiln::test::sample_template();
  kiln::Service service(options);
  for (int number : numbers) {
    kiln::Lookup found = service.find_or_compile(tmpl, {{"n", number}}, kiln::Target::parse("sm_80"));
    std::printf("%d %llx\n", number, static_cast<unsigned long long>(digest(*found.artifact)));
  }
  kiln::Stats stats = service.stats();
  auto print = [](std::uint64_t count) { std::printf(" %llu", static_cast<unsigned long long>(count)); };
  std::printf("counters");
  print(stats.compiles);
  print(stats.puts_lost);
  print(stats.corrupt_dropped);
  print(stats.lease_waits);
  print(stats.lease_timeouts);
  std::printf("\n");
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "service_worker CACHE NVRTC KEYS SEED\n");
    return 2;
  }
  kiln::ServiceOptions options;
  options.cache_dir = argv[1];
  options.nvrtc = argv[2];
#ifdef KILN_SANITIZED
  options.busy_wait *= 10;  // many processes at once are that much slower
#endif
  options.log = [](kiln::LogLevel, std::string_view message) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  };
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0;) {
  }
  try {
    return work(std::atoi(argv[3]), static_cast<unsigned>(std::atoi(argv[4])), options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
