#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

#include "cache/layered_store.hpp"
#include "jit/nvrtc.hpp"
#include "kiln/error.hpp"
#include "kiln/plan.hpp"
#include "service/request.hpp"
#include "support/wall_clock.hpp"

namespace kiln {

namespace {

/// One kernel for one target.
struct Job {
  const PlanItem* item;
  Target target;
};

std::vector<Job> jobs_of(const Plan& plan, const std::vector<Target>& targets) {
  if (plan.items.empty()) {
    throw Error(ErrorCode::invalid_argument, "the plan is empty: it needs at least one kernel");
  }
  std::vector<Job> jobs;
  for (const PlanItem& item : plan.items) {
    const std::vector<Target>& wanted = item.targets.empty() ? targets : item.targets;
    if (wanted.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  item.label + ": no target: give it one in the plan (\"targets\"), or all of them with --target");
    }
    for (const Target& target : wanted) {
      jobs.push_back({&item, target});
    }
  }
  return jobs;
}

/// The CPUs this process may run on, which is fewer than the machine's under taskset or in a container.
unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    return std::max(1U, std::thread::hardware_concurrency());
  }
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

/// The workers' shared state: the pack is written by one thread at a time, the compiles run side by side.
class Precompilation {
 public:
  Precompilation(const PrecompileOptions& options, std::vector<Job> jobs)
      : options_(options), jobs_(std::move(jobs)), nvrtc_(jit::Nvrtc::open(jit::find_nvrtc(options.nvrtc))) {
    // Before anything is written: a target that no kernel can have is the caller's mistake, not a failed kernel.
    for (const Job& job : jobs_) {
      nvrtc_->resolve(job.target);
    }
    compiler_ = nvrtc_->identity();
    pack_.emplace(options.output);
    result_.progress.total = jobs_.size();
  }

  PrecompileResult run() {
    std::size_t wanted = options_.jobs == 0 ? usable_cpus() : options_.jobs;
    std::vector<std::thread> workers;
    try {
      for (std::size_t i = 0; i < std::min(wanted, jobs_.size()); ++i) {
        workers.emplace_back([this] { work(); });
      }
    } catch (const std::system_error&) {
      // No more threads are to be had: those that there are do all the work, if need be this one alone.
    }
    if (workers.empty()) {
      work();
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    if (store_failure_) {
      std::rethrow_exception(store_failure_);
    }
    pack_->finish();
    return std::move(result_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < jobs_.size() && !stop_; i = next_++) {
      try {
        compile(jobs_[i]);
      } catch (const StoreError&) {
        stop(std::current_exception());
      } catch (const std::exception& error) {
        fail(jobs_[i], error.what());
      }
    }
  }

  void compile(const Job& job) {
    service::Request request = service::make_request(job.item->tmpl, job.item->values, job.target);
    {
      std::lock_guard lock(mutex_);
      if (pack_->contains(request.key, compiler_)) {
        ++result_.progress.present;
        report();
        return;
      }
    }
    Target served = nvrtc_->resolve(job.target);
    Artifact artifact = nvrtc_->compile(request.source, served, jit::compile_arguments(request.source, served));
    artifact.key = request.key;
    artifact.spec = std::move(request.spec);
    artifact.target = job.target;
    artifact.created = support::seconds_since_epoch();
    std::lock_guard lock(mutex_);
    // Two items of a plan may be the same request; both may have been compiled by now.
    if (pack_->contains(artifact.key, compiler_)) {
      ++result_.progress.present;
    } else {
      pack_->put(artifact);
      ++result_.progress.compiled;
    }
    report();
  }

  void fail(const Job& job, const char* message) {
    std::lock_guard lock(mutex_);
    result_.failures.push_back({job.item->label, job.target, message});
    ++result_.progress.failed;
    report();
  }

  void stop(std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    stop_ = true;
    if (!store_failure_) {
      store_failure_ = std::move(error);
    }
  }

  void report() {
    ++result_.progress.done;
    if (options_.progress) {
      options_.progress(result_.progress);
    }
  }

  const PrecompileOptions& options_;
  const std::vector<Job> jobs_;
  std::shared_ptr<const jit::Nvrtc> nvrtc_;
  Compiler compiler_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards all below
  std::optional<cache::PackWriter> pack_;
  PrecompileResult result_;
  std::exception_ptr store_failure_;
};

}  // namespace

PrecompileResult precompile(const Plan& plan, const PrecompileOptions& options) {
  return Precompilation(options, jobs_of(plan, options.targets)).run();
}

}  // namespace kiln
