// Get, put and open at a thousand and a million rows, beside raw SQLite doing the same.
//
//   cache_bench [--rows N]... [--json FILE]
//
// "fresh process" starts this program again for every sample and times the first look-up in it.

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "cache/layered_store.hpp"
#include "cache/row.hpp"
#include "cache/schema.hpp"
#include "cache/spec.hpp"
#include "cache/store.hpp"
#include "harness.hpp"
#include "support/sample_artifact.hpp"
#include "support/temp_dir.hpp"

namespace {

using namespace kiln;  // NOLINT(google-build-using-namespace)
using bench::Result;

// Small, so that a million rows can be written in a minute; a larger image adds its bytes to every figure alike.
constexpr std::size_t k_image_bytes = 1000;
constexpr int k_fresh_processes = 201;

/// Keys spread over the whole range, as hashes are.
Key key_number(std::uint64_t number) {
  return {number * 0x9E3779B97F4A7C15U ^ 0x1234567, number * 0xC2B2AE3D27D4EB4FU + 7};
}

/// One kernel's artifact, under another key each: what tells rows apart does not matter here.
Artifact artifact_number(std::uint64_t number) {
  Artifact artifact = test::sample_artifact(1, k_image_bytes);
  artifact.key = key_number(number);
  return artifact;
}

ServiceOptions options_for(const std::filesystem::path& folder) {
  ServiceOptions options;
  options.cache_dir = folder;
  options.max_bytes = 0;
  return options;
}

cache::CompilerPolicy installed() { return Compiler{13, 0, 88}; }

/// A user database with `rows` rows.
void fill(const std::filesystem::path& folder, std::uint64_t rows) {
  if (!cache::LayeredStore(options_for(folder)).put(artifact_number(0))) {
    std::fprintf(stderr, "cache_bench: %s cannot be written\n", folder.c_str());
    std::exit(1);
  }
  cache::Store store(
      cache::Database::open(folder / "kiln.db", cache::Database::Access::read_write, std::chrono::milliseconds(1000)));
  store.database().text("PRAGMA journal_mode = MEMORY");
  store.database().execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000");
  cache::Row row = cache::to_row(artifact_number(0), 1'700'000'000).value();
  cache::Transaction transaction(store.database());
  row.last_used = std::time(nullptr);
  for (std::uint64_t number = 0; number < rows; ++number) {
    row.key = cache::to_digest(key_number(number));
    row.checksum = cache::checksum_of(row);
    store.put(row);
  }
  transaction.commit();
  store.database().text("PRAGMA journal_mode = WAL");
}

void must(bool ok, const char* what) {
  if (!ok) {
    std::fprintf(stderr, "cache_bench: %s failed\n", what);
    std::exit(1);
  }
}

void get_once(cache::LayeredStore& store, std::uint64_t number, const std::string& spec) {
  must(store.get(key_number(number), spec, installed).has_value(), "get");
}

/// What a program would do with SQLite alone: the row's blobs, unverified.
class RawDatabase {
 public:
  explicit RawDatabase(const std::filesystem::path& file) {
    must(sqlite3_open_v2(file.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK,
         "sqlite3_open_v2");
    sqlite3_exec(database_, "PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
    const char* get = "SELECT entries, spec, image, checksum FROM artifacts WHERE key = ?1 AND compiler = 1300000088";
    must(sqlite3_prepare_v2(database_, get, -1, &get_, nullptr) == SQLITE_OK, "sqlite3_prepare_v2");
  }
  ~RawDatabase() {
    sqlite3_finalize(get_);
    sqlite3_close(database_);
  }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  void get(std::uint64_t number) {
    cache::Digest key = cache::to_digest(key_number(number));
    sqlite3_bind_blob(get_, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
    must(sqlite3_step(get_) == SQLITE_ROW, "raw get");
    std::size_t bytes = 0;
    for (int column = 0; column < 4; ++column) {
      bytes += sqlite3_column_blob(get_, column) != nullptr
                   ? static_cast<std::size_t>(sqlite3_column_bytes(get_, column))
                   : 0;
    }
    must(bytes > 0, "raw get");
    sqlite3_reset(get_);
  }
  void put(std::uint64_t number) {
    cache::Digest key = cache::to_digest(key_number(number));
    const char* sql =
        "INSERT OR REPLACE INTO artifacts SELECT NULL, ?1, compiler, template, target, kind, entry_names, image_bytes, "
        "compile_ms, registers, spill_bytes, created, last_used, checksum, entries, log, spec, ptx, image "
        "FROM artifacts ORDER BY id LIMIT 1";
    if (put_ == nullptr) {
      must(sqlite3_prepare_v2(database_, sql, -1, &put_, nullptr) == SQLITE_OK, "sqlite3_prepare_v2");
    }
    sqlite3_bind_blob(put_, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
    must(sqlite3_step(put_) == SQLITE_DONE, "raw put");
    sqlite3_reset(put_);
  }
  void finish_puts() {
    sqlite3_finalize(put_);
    put_ = nullptr;
  }

 private:
  sqlite3* database_ = nullptr;
  sqlite3_stmt* get_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
};

double time_of_first_get(const std::filesystem::path& folder, std::uint64_t number, const std::string& spec) {
  return bench::elapsed_ns(
      [&] {
        cache::LayeredStore store(options_for(folder));
        get_once(store, number, spec);
      },
      1);
}

constexpr char k_child[] = "--child";
constexpr char k_raw_child[] = "--raw-child";

/// In the child: the first look-up of a process, in nanoseconds, to standard output.
int child(bool raw, const std::filesystem::path& folder, std::uint64_t number) {
  std::string spec = artifact_number(number).spec;
  double ns = raw ? bench::elapsed_ns([&] { RawDatabase(folder / "kiln.db").get(number); }, 1)
                  : time_of_first_get(folder, number, spec);
  std::printf("%.0f\n", ns);
  return 0;
}

Result measure_fresh_processes(std::string name, const char* program, const char* mode,
                               const std::filesystem::path& folder, std::uint64_t rows) {
  std::vector<double> samples;
  for (int i = 0; i < k_fresh_processes; ++i) {
    std::string command = std::string(program) + " " + mode + " " + folder.string() + " " +
                          std::to_string(static_cast<std::uint64_t>(i) * 7919 % rows);
    std::FILE* output = ::popen(command.c_str(), "r");
    must(output != nullptr, "starting a process");
    double ns = 0;
    must(std::fscanf(output, "%lf", &ns) == 1, "reading from a process");
    ::pclose(output);
    samples.push_back(ns);
  }
  return bench::summarize(std::move(name), samples);
}

void measure_database(bench::Report& report, const char* program, std::uint64_t rows) {
  test::TempDir folder;
  std::filesystem::path cache = folder / "cache";
  fill(cache, rows);
  std::string at = " at " + std::to_string(rows) + " rows";
  std::string spec = artifact_number(0).spec;
  report.add(measure_fresh_processes("fresh process: open, get, close" + at, program, k_child, cache, rows));
  report.add(measure_fresh_processes("raw SQLite: the same" + at, program, k_raw_child, cache, rows));
  std::uint64_t next = 0;
  auto number = [&] { return next++ * 7919 % rows; };
  {
    std::vector<bench::Case> cases{
        {"open, get, close" + at, [&] { time_of_first_get(cache, number(), spec); }, {}},
        {"raw SQLite: open, get, close" + at, [&] { RawDatabase(cache / "kiln.db").get(number()); }, {}},
    };
    report.add(bench::measure(cases));
  }
  {
    cache::LayeredStore store(options_for(cache));
    report.add(bench::measure("get" + at, [&] { get_once(store, number(), spec); }));
  }
  {
    RawDatabase raw(cache / "kiln.db");
    report.add(bench::measure("raw SQLite: get" + at, [&] { raw.get(number()); }));
  }
  std::uint64_t fresh = rows;
  {
    cache::LayeredStore store(options_for(cache));
    report.add(bench::measure("put" + at, [&] { must(store.put(artifact_number(fresh++)), "put"); }));
    report.add(bench::measure("get, others may write" + at, [&] { get_once(store, number(), spec); }));
  }
  RawDatabase raw(cache / "kiln.db");
  report.add(bench::measure("raw SQLite: put" + at, [&] { raw.put(fresh++); }));
  raw.finish_puts();
}

void measure_spec(bench::Report& report) {
  Source source;
  source.name = "sample.cu";
  source.text = std::string(8000, 'x');
  source.literals = {{"n", "36u"}, {"table", std::string(200, '1')}};
  source.entries = {"sample"};
  std::vector<std::string> arguments{"--gpu-architecture=sm_90", "--std=c++17"};
  Target target = Target::cubin(90);
  report.add(bench::measure("spec and key of an 8 KB source", [&] {
    Key key = cache::key_of(cache::make_spec(source, arguments, target));
    must(key.low != 0, "hashing");
  }));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && (arguments[0] == k_child || arguments[0] == k_raw_child)) {
    return child(arguments[0] == k_raw_child, arguments[1], std::stoull(arguments[2]));
  }
  std::vector<std::uint64_t> rows;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--rows") {
      rows.push_back(std::stoull(arguments[i + 1]));
    }
  }
  if (rows.empty()) {
    rows = {1000, 1'000'000};
  }
  bench::Report report("cache", argc, argv);
  measure_spec(report);
  for (std::uint64_t count : rows) {
    measure_database(report, argv[0], count);
  }
  return report.finish();
}
