// Get, put and open at a thousand and a million rows, by 1 to 8 threads and processes, beside raw SQLite doing the
// same.
//
//   cache_bench [--rows N]... [--kernels real|small] [--json FILE]
//
// Keys are drawn at random. Kiln and SQLite take turns; figures are of single calls. "fresh process" starts this
// program again for every sample and times the first look-up in it. A million real kernels take 15 GB in the temporary
// folder.

#include <cmath>
#include <random>

#include "cache/spec.hpp"
#include "cache_database.hpp"
#include "harness.hpp"
#include "support/temp_dir.hpp"
#include "workers.hpp"

namespace {

using namespace kiln;  // NOLINT(google-build-using-namespace)
using bench::KilnCache;
using bench::MakeWork;
using bench::must;
using bench::Place;
using bench::RawDatabase;
using bench::Work;
using bench::Workers;
using Mode = bench::RawDatabase::Mode;

constexpr int k_fresh_processes = 201;
constexpr int k_rounds = 3;
constexpr std::chrono::milliseconds k_duration{200};
constexpr int k_first_gets = 100;               // of a connection: its pages are still to be read
constexpr int k_connections = 20;               // that such gets are timed on
constexpr std::uint64_t k_until_cap = 4 << 20;  // so that the cap is reached while it is timed
constexpr int k_worker_counts[]{1, 2, 4, 8};

/// Numbers of rows that are there.
class Present {
 public:
  Present(std::uint64_t rows, int worker) : random_(static_cast<unsigned>(worker) + 1), pick_(0, rows - 1) {}
  std::uint64_t operator()() { return pick_(random_); }

 private:
  std::mt19937_64 random_;
  std::uniform_int_distribution<std::uint64_t> pick_;
};

/// Numbers of rows that are not there, in any worker of any run.
class Absent {
 public:
  std::uint64_t operator()() { return random_() | std::uint64_t{1} << 63; }

 private:
  std::mt19937_64 random_{std::random_device()() | std::uint64_t{std::random_device()()} << 32};
};

/// `open()` gives the database, in the worker.
template <typename Open>
MakeWork gets(const Place& place, Open open) {
  return [rows = place.rows, open](int worker) -> Work {
    return [database = open(), number = Present(rows, worker)]() mutable { database->get(number()); };
  };
}

template <typename Open>
MakeWork puts(Open open) {
  return [open](int) -> Work { return [database = open(), number = Absent()]() mutable { database->put(number()); }; };
}

template <typename Open>
MakeWork opens(const Place& place, Open open) {
  return [rows = place.rows, open](int worker) -> Work {
    return [open, number = Present(rows, worker)]() mutable { open()->get(number()); };
  };
}

struct Beside {
  Workers kiln;
  Workers raw;
};

using Run = Workers (*)(int, std::chrono::milliseconds, const MakeWork&);

Beside take_turns(Run run, int count, const MakeWork& kiln, const MakeWork& raw) {
  Beside beside;
  for (int round = 0; round < k_rounds; ++round) {
    beside.kiln.add(run(count, k_duration, kiln));
    beside.raw.add(run(count, k_duration, raw));
  }
  return beside;
}

void report(bench::Report& out, const std::string& name, const Beside& beside) {
  const double kiln = beside.kiln.quantile(0.5);
  const double raw = beside.raw.quantile(0.5);
  std::vector<std::pair<std::string, double>> more{
      {"p99_us", beside.kiln.quantile(0.99) / 1e3}, {"raw_us", raw / 1e3}, {"ratio", kiln / raw}};
  if (beside.kiln.per_second() > 0) {
    more.emplace_back("per_s", std::round(beside.kiln.per_second()));
    more.emplace_back("raw_per_s", std::round(beside.raw.per_second()));
  }
  out.add({name, kiln, beside.kiln.quantile(0), static_cast<int>(beside.kiln.count())}, more);
}

/// The first gets of a connection, whose pages SQLite has not read yet.
template <typename Open>
Workers first_gets(const Place& place, Open open) {
  Workers workers;
  for (int connection = 0; connection < k_connections; ++connection) {
    const auto database = open();
    Present number(place.rows, connection);
    database->get(number());
    for (int i = 1; i < k_first_gets; ++i) {
      workers.add(bench::elapsed_ns([&] { database->get(number()); }, 1));
    }
  }
  return workers;
}

constexpr char k_child[] = "--child";
constexpr char k_raw_child[] = "--raw-child";

/// In the child: the first look-up of a process, in nanoseconds, to standard output.
int child(bool raw, const Place& place, std::uint64_t number) {
  const double ns =
      bench::elapsed_ns([&] { raw ? place.raw(Mode::immutable)->get(number) : place.kiln()->get(number); }, 1);
  std::printf("%.0f\n", ns);
  return 0;
}

/// As one word of a shell's command.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return text + "'";
}

double fresh_process(const std::string& program, const char* mode, const Place& place, std::uint64_t number) {
  const std::string command = quoted(program) + " " + mode + " " + quoted(place.folder.string()) + " " +
                              name_of(place.kernels) + " " + std::to_string(number);
  std::FILE* output = ::popen(command.c_str(), "r");
  must(output != nullptr, "starting a process");
  double ns = 0;
  must(std::fscanf(output, "%lf", &ns) == 1, "reading from a process");
  ::pclose(output);
  return ns;
}

Beside fresh_processes(const std::string& program, const Place& place) {
  Beside beside;
  Present number(place.rows, 0);
  for (int i = 0; i < k_fresh_processes; ++i) {
    beside.kiln.add(fresh_process(program, k_child, place, number()));
    beside.raw.add(fresh_process(program, k_raw_child, place, number()));
  }
  return beside;
}

/// A cache that reaches its cap: what one put costs there, those that have to evict included.
void measure_cap(bench::Report& out, const Place& place) {
  Workers capped;
  Workers free;
  std::uint64_t evicted = 0;
  for (int round = 0; round < k_rounds; ++round) {
    const auto one = place.kiln(std::filesystem::file_size(place.folder / "kiln.db") + k_until_cap);
    capped.add(bench::run_threads(1, 5 * k_duration, puts([&] { return one; })));
    evicted += one->evicted();
    free.add(bench::run_threads(1, k_duration, puts([&] { return place.kiln(); })));
  }
  out.add({"put at the cap" + place.at(), capped.quantile(0.5), capped.quantile(0), static_cast<int>(capped.count())},
          {{"mean_us", capped.mean() / 1e3},
           {"longest_ms", capped.quantile(1) / 1e6},
           {"without_us", free.quantile(0.5) / 1e3},
           {"ratio", capped.quantile(0.5) / free.quantile(0.5)},
           {"evicted", static_cast<double>(evicted)}});
}

/// Processes have a store each. Threads share one, as they do in a program; with SQLite alone, each has a connection.
void measure_database(bench::Report& out, const std::string& program, const Place& place) {
  bench::fill(place);
  const auto kiln = [&] { return place.kiln(); };
  const auto immutable = [&] { return place.raw(Mode::immutable); };
  const auto shared = [&] { return place.raw(Mode::shared); };
  const auto measure = [&](const std::string& name, const MakeWork& alone, const MakeWork& together,
                           const MakeWork& raw) {
    for (const int count : k_worker_counts) {
      report(out, name + place.at() + ", processes: " + std::to_string(count),
             take_turns(bench::run_processes, count, alone, raw));
    }
    for (const int count : k_worker_counts) {
      report(out, name + place.at() + ", threads: " + std::to_string(count),
             take_turns(bench::run_threads, count, together, raw));
    }
  };
  report(out, "fresh process: open, get, close" + place.at(), fresh_processes(program, place));
  report(out, "first gets of a connection" + place.at(), {first_gets(place, kiln), first_gets(place, immutable)});
  // A store is made before children are forked, and opens its database in the first look-up of one of them.
  {
    const auto one = kiln();
    measure("get", gets(place, kiln), gets(place, [&] { return one; }), gets(place, immutable));
  }
  measure("open, get, close", opens(place, kiln), opens(place, kiln), opens(place, immutable));
  {
    const auto one = kiln();
    measure("put", puts(kiln), puts([&] { return one; }), puts(shared));
    one->put(Absent()());
    report(out, "get while others may write" + place.at(),
           take_turns(bench::run_threads, 1, gets(place, [&] { return one; }), gets(place, shared)));
  }
  measure_cap(out, place);
}

void measure_spec(bench::Report& out) {
  Source source;
  source.name = "sample.cu";
  source.text = std::string(8000, 'x');
  source.literals = {{"n", "36u"}, {"table", std::string(200, '1')}};
  source.entries = {"sample"};
  const std::vector<std::string> arguments{"--gpu-architecture=sm_90", "--std=c++17"};
  const Target target = Target::cubin(90);
  out.add(bench::measure("spec and key of an 8 KB source", [&] {
    Key key = cache::key_of(cache::make_spec(source, arguments, target));
    must(key.low != 0, "hashing");
  }));
}

bench::Kernels kernels_of(const std::string& name) {
  must(name == "real" || name == "small", "--kernels: real or small; anything else");
  return name == "real" ? bench::Kernels::real : bench::Kernels::small;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 4 && (arguments[0] == k_child || arguments[0] == k_raw_child)) {
    return child(arguments[0] == k_raw_child, Place(arguments[1], 1, kernels_of(arguments[2])),
                 std::stoull(arguments[3]));
  }
  std::vector<std::uint64_t> rows;
  bench::Kernels kernels = bench::Kernels::real;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--rows") {
      rows.push_back(std::stoull(arguments[i + 1]));
    } else if (arguments[i] == "--kernels") {
      kernels = kernels_of(arguments[i + 1]);
    }
  }
  if (rows.empty()) {
    rows = {1000, 1'000'000};
  }
  bench::Report out("cache", argc, argv);
  out.note("kernels", name_of(kernels));
  measure_spec(out);
  for (const std::uint64_t count : rows) {
    const test::TempDir directory;
    measure_database(out, argv[0], Place(directory / "cache", count, kernels));
  }
  return out.finish();
}
