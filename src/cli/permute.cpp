#include <optional>

#include "cli/human.hpp"
#include "cli/interruption.hpp"
#include "cli/permute_check.hpp"
#include "cli/request.hpp"
#include "cli/target_choice.hpp"
#include "kiln/emulator.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
  PermuteArguments request;
  bool emulate = false;
};

/// Where a kernel's result was verified.
enum class Verified { no, gpu, emulation };

void emulate(const PermuteRequest& request, const Target& target, void* to, const void* from, std::uint64_t rows) {
  EmulatedKernel kernel(instantiate(request.tmpl, request.values), target);
  if (!request.table.empty()) {
    kernel.set_data(request.module_data());
  }
  std::vector<std::byte> scratch(request.scratch_bytes(rows));
  if (rows > 0) {
    run_steps(request.steps, to, from, scratch.data(), rows,
              [&](const LaunchConfig& config, std::span<const Argument> launched) { kernel.launch(config, launched); });
  }
}

void run_on_cpu(const PermuteRequest& request, const Target& target, PermuteCheck check) {
  if (check.has_ending()) {
    std::vector<std::byte> changed(check.changed_bytes());
    emulate(plan(check.ending_map(), check.ending_shape(), target), target, changed.data(), check.moved().data(),
            check.rows());
    check.take_changed(changed);
  }
  std::vector<std::byte> y = check.make_y();
  emulate(request, target, y.data(), check.in_place() ? y.data() : check.x().data(), check.rows());
  if (check.rows() > 0) {
    check.verify(y);
  }
}

/// By a kernel that is kept nowhere: nobody asked for it.
std::vector<std::byte> change_on_gpu(const PermuteCheck& check, const Device& device, ServiceOptions options) {
  options.cache_mode = CacheMode::off;
  options.packs.clear();
  options.strict = false;
  options.record.clear();
  const PermuteKernel kernel =
      Permuter(Service(std::move(options))).get(check.ending_map(), check.ending_shape(), device.target());
  DeviceBuffer from(check.moved().size());
  DeviceBuffer to(check.changed_bytes());
  from.upload(check.moved());
  kernel(to.data(), from.data(), check.rows());
  device.synchronize();
  std::vector<std::byte> changed(check.changed_bytes());
  to.download(changed);
  return changed;
}

void run_on_gpu(const PermuteKernel& kernel, const Device& device, PermuteCheck check, const ServiceOptions& options) {
  if (check.has_ending() && check.rows() > 0) {
    check.take_changed(change_on_gpu(check, device, options));
  }
  std::vector<std::byte> y = check.make_y();
  DeviceBuffer from(check.x().size());
  DeviceBuffer to(y.size());
  from.upload(check.x());
  to.upload(y);
  kernel(to.data(), check.in_place() ? to.data() : from.data(), check.rows());
  device.synchronize();
  if (check.rows() > 0) {
    to.download(y);
    check.verify(y);
  }
}

class Run {
 public:
  Run(const Arguments& arguments, Output& out)
      : arguments_(arguments),
        out_(out),
        shape_(read_shape(arguments.request)),
        map_(read_map(arguments.request)),
        device_(arguments.emulate ? std::nullopt : find_device()),
        targets_(choose_targets(arguments.request.targets, device_)),
        service_(service_options(arguments.common)),
        permuter_(service_) {}

  ExitCode run() {
    for (const Target& target : targets_) {
      run(target);
    }
    return k_done;
  }

 private:
  void run(const Target& target) {
    PermuteRequest request = plan(map_, shape_, target);
    std::uint64_t rows = arguments_.request.rows.value_or(PermuteCheck::default_rows(map_, shape_));
    bool runs_on_gpu = !arguments_.emulate && device_ && device_->runs(target);
    if (arguments_.emulate || runs_on_gpu) {
      PermuteCheck::require_room(map_, shape_, rows);  // before anything is compiled
    }
    Lookup found = service_.find_or_compile(request.tmpl, request.values, target);
    Verified verified = Verified::no;
    std::string why_not = "not run: no GPU here; --emulate runs the kernel on the CPU";
    if (arguments_.emulate) {
      run_on_cpu(request, target, PermuteCheck(map_, shape_, rows));
      verified = Verified::emulation;
    } else if (runs_on_gpu) {
      run_on_gpu(permuter_.get(map_, shape_, target), *device_, PermuteCheck(map_, shape_, rows), service_.options());
      verified = Verified::gpu;
    } else if (device_) {
      why_not = "not run: the GPU here is " + device_->target().text();
    }
    print(request, found, target, rows, verified, why_not);
  }

  void print(const PermuteRequest& request, const Lookup& found, const Target& target, std::uint64_t rows,
             Verified verified, const std::string& why_not) {
    std::uint64_t elements = rows * map_.size() * shape_.inner;
    if (arguments_.common.json) {
      Json json = to_json(found, found.artifact->key, target);
      json["strategy"] = request.strategy;
      json["reason"] = request.reason;
      json["verified"] = verified == Verified::no    ? Json(nullptr)
                         : verified == Verified::gpu ? Json("gpu")
                                                     : Json("emulation");
      json["rows"] = rows;
      json["elements"] = elements;
      print_json(out_, json);
      return;
    }
    out_.line(to_line(found, target));
    out_.line("            " + request.reason);
    out_.line("            " +
              (verified == Verified::no
                   ? why_not
                   : std::string(verified == Verified::gpu ? "verified on the GPU" : "verified by emulation") + ": " +
                         human_count(elements, "element") + " in " + human_count(rows, "row")));
    out_.flush();
  }

  const Arguments& arguments_;
  Output& out_;
  PermuteShape shape_;
  IndexMap map_;
  std::optional<Device> device_;
  std::vector<Target> targets_;
  Service service_;
  Permuter permuter_;
};

ExitCode run(const Arguments& arguments, Output& out) {
  TidyOnSignal tidy;
  return Run(arguments, out).run();
}

}  // namespace

void add_permute(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] = add_command<Arguments>(
      app, chosen, "permute", "Compile, cache, run and verify a fixed permutation y[b, j] = x[b, map[j]]",
      "  kiln permute --indices 2,1,0 --rows 1024 --dtype u8\n"
      "  kiln permute --indices map.json --dtype f32 --target sm_80 --target sm_90a --emulate --json\n"
      "  kiln permute --indices 2,1,0 --row-stride-in 4 --row-stride-out 4 --in-place\n"
      "  kiln permute --indices 2,1,0 --to-dtype f16 --ending 'value * scale[position]' --list scale=0.5,1,2\n",
      run);
  add_permute_arguments(syntax, arguments->request);
  syntax.flag("--emulate", arguments->emulate,
              "Run the generated kernel on the CPU and verify it there; needs a host C++ compiler, no GPU");
}

}  // namespace kiln::cli
