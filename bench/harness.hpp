#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/gpu.hpp"

/// What Kiln's benchmarks share: interleaved measurements, GPU times through events, one table and one JSON file a
/// program.
namespace kiln::bench {

struct Case {
  std::string name;
  std::function<void()> run;           ///< timed
  std::function<void()> after_sample;  ///< not timed, after each sample; may be empty
};

struct Result {
  std::string name;
  double median_ns = 0;  ///< of one run
  double min_ns = 0;
  int samples = 0;
};

struct Sampling {
  int samples = 51;
  int batch = 0;  ///< runs in a sample; 0: as many as take `sample_ns`
  double sample_ns = 50'000;
};

inline double elapsed_ns(const std::function<void()>& run, int batch) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < batch; ++i) {
    run();
  }
  auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count() / batch;
}

/// The middle of `samples`, the mean of the two if there are two. Not empty.
inline double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

inline Result summarize(std::string name, const std::vector<double>& samples_ns) {
  return {std::move(name), median(samples_ns), *std::min_element(samples_ns.begin(), samples_ns.end()),
          static_cast<int>(samples_ns.size())};
}

/// Measures all cases in turn, sample by sample, so that what disturbs the machine disturbs each alike and their ratios
/// hold.
inline std::vector<Result> measure(const std::vector<Case>& cases, const Sampling& sampling = {}) {
  std::vector<int> batches;
  for (const Case& c : cases) {
    c.run();  // the first run pays for what is lazy
    double once = elapsed_ns(c.run, 1);
    int batch = std::clamp(static_cast<int>(sampling.sample_ns / std::max(once, 1.0)), 1, 1'000'000);
    batches.push_back(sampling.batch > 0 ? sampling.batch : batch);
    if (c.after_sample) {
      c.after_sample();
    }
  }
  std::vector<std::vector<double>> times(cases.size());
  for (int sample = 0; sample < sampling.samples; ++sample) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      times[i].push_back(elapsed_ns(cases[i].run, batches[i]));
      if (cases[i].after_sample) {
        cases[i].after_sample();
      }
    }
  }
  std::vector<Result> results;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    results.push_back(summarize(cases[i].name, times[i]));
  }
  return results;
}

/// Measures one case.
inline Result measure(std::string name, std::function<void()> run, const Sampling& sampling = {}) {
  return measure({Case{std::move(name), std::move(run), {}}}, sampling).front();
}

/// Times work on a stream with events. The work between the two events is what `run` puts into the stream.
class GpuTimer {
 public:
  explicit GpuTimer(CUstream_st* stream) : cuda_(test::Gpu::get().cuda()), stream_(stream) {
    test::require(cuda_.event_create(&begin_, 0), "cuEventCreate");
    test::require(cuda_.event_create(&end_, 0), "cuEventCreate");
  }
  ~GpuTimer() {
    cuda_.event_destroy(begin_);
    cuda_.event_destroy(end_);
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  double elapsed_ns(const std::function<void()>& run) const {
    test::require(cuda_.event_record(begin_, stream_), "cuEventRecord");
    run();
    test::require(cuda_.event_record(end_, stream_), "cuEventRecord");
    test::require(cuda_.event_synchronize(end_), "cuEventSynchronize");
    float ms = 0;
    test::require(cuda_.event_elapsed_ms(&ms, begin_, end_), "cuEventElapsedTime");
    return ms * 1e6;
  }

 private:
  const test::Cuda& cuda_;
  CUstream_st* stream_;
  CUevent_st* begin_ = nullptr;
  CUevent_st* end_ = nullptr;
};

/// GPU times of all cases, in turn, sample by sample, one run a sample.
inline std::vector<Result> measure_gpu(const std::vector<Case>& cases, CUstream_st* stream, int samples = 11) {
  GpuTimer timer(stream);
  for (const Case& c : cases) {
    timer.elapsed_ns(c.run);
  }
  std::vector<std::vector<double>> times(cases.size());
  for (int sample = 0; sample < samples; ++sample) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      times[i].push_back(timer.elapsed_ns(cases[i].run));
    }
  }
  std::vector<Result> results;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    results.push_back(summarize(cases[i].name, times[i]));
  }
  return results;
}

/// Gathers rows, prints them as one table, and writes them to the file given with `--json FILE`.
class Report {
 public:
  Report(std::string name, int argc, char** argv) : name_(std::move(name)) {
    for (int i = 1; i + 1 < argc; ++i) {
      if (std::string(argv[i]) == "--json") {
        json_file_ = argv[i + 1];
      }
    }
  }

  /// A fact that holds for the whole run, e.g. the GPU's name.
  void note(const std::string& key, const std::string& value) {
    notes_[key] = value;
    std::printf("%-12s %s\n", key.c_str(), value.c_str());
  }
  /// `extra` are further columns of this row: ratios, GB/s.
  void add(const Result& result, const std::vector<std::pair<std::string, double>>& extra = {}) {
    if (rows_.empty()) {
      std::printf("\n%-46s %12s %12s\n", name_.c_str(), "median", "min");
    }
    std::printf("%-46s %12s %12s", result.name.c_str(), text(result.median_ns).c_str(), text(result.min_ns).c_str());
    nlohmann::json row{
        {"name", result.name}, {"median_ns", result.median_ns}, {"min_ns", result.min_ns}, {"samples", result.samples}};
    for (const auto& [key, value] : extra) {
      std::printf("  %s %.3f", key.c_str(), value);
      row[key] = value;
    }
    std::printf("\n");
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }
  void add(const std::vector<Result>& results) {
    for (const Result& result : results) {
      add(result);
    }
  }
  /// To be called last: gives main's result.
  int finish() const {
    if (json_file_.empty()) {
      return 0;
    }
    std::ofstream file(json_file_);
    file << nlohmann::json{{"benchmark", name_}, {"notes", notes_}, {"results", rows_}}.dump(2) << '\n';
    if (!file.flush()) {
      std::fprintf(stderr, "cannot write %s\n", json_file_.c_str());
      return 1;
    }
    return 0;
  }

 private:
  static std::string text(double ns) {
    char buffer[32];
    if (ns < 1e3) {
      std::snprintf(buffer, sizeof(buffer), "%.1f ns", ns);
    } else if (ns < 1e6) {
      std::snprintf(buffer, sizeof(buffer), "%.2f us", ns / 1e3);
    } else {
      std::snprintf(buffer, sizeof(buffer), "%.3f ms", ns / 1e6);
    }
    return buffer;
  }

  std::string name_;
  std::string json_file_;
  nlohmann::json notes_ = nlohmann::json::object();
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace kiln::bench
