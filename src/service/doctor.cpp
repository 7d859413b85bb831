#include "kiln/doctor.hpp"

#include <unistd.h>

#include "cache/filesystem.hpp"
#include "cache/layered_store.hpp"
#include "cache/trust.hpp"
#include "jit/devices.hpp"
#include "jit/driver.hpp"
#include "jit/driver_api.hpp"
#include "jit/nvrtc.hpp"
#include "jit/toolchain.hpp"
#include "kiln/error.hpp"

namespace kiln {

namespace {

std::string joined(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& target : targets) {
    text += (text.empty() ? "" : " ") + target.text();
  }
  return text;
}

Finding diagnose_nvrtc(const ServiceOptions& options) {
  jit::NvrtcSearch search = jit::find_nvrtc(options.nvrtc);
  Finding finding;
  finding.name = "nvrtc";
  finding.looked_in = search.looked_in;
  try {
    auto nvrtc = jit::Nvrtc::open(search);
    finding.summary =
        nvrtc->identity().text() + " at " + nvrtc->path() + ", compiles for " + joined(nvrtc->supported());
    finding.looked_in.clear();
  } catch (const Error& error) {
    finding.health = search.found ? Health::bad : Health::missing;
    finding.summary = search.found ? error.what() : "not found: what is cached still runs, nothing can be compiled";
    finding.remedy = options.nvrtc.empty()
                         ? "install a CUDA toolkit or the PyPI package nvidia-cuda-nvrtc, or set KILN_NVRTC to the "
                           "library file"
                         : "set KILN_NVRTC to a libnvrtc.so file, or unset it to have the usual places looked in";
  }
  return finding;
}

/// The driver, then one finding a GPU.
std::vector<Finding> diagnose_driver() {
  Finding finding;
  finding.name = "driver";
  std::vector<Finding> gpus;
  try {
    auto driver = jit::Driver::open();
    finding.summary = "CUDA " + jit::driver_version_text(driver->version()) + " at " + driver->path();
    for (const jit::DeviceInfo& device : jit::list_devices(*driver)) {
      Finding gpu;
      gpu.name = "gpu " + std::to_string(gpus.size());
      gpu.summary = device.name + ", " + device.target.text();
      gpus.push_back(gpu);
    }
  } catch (const Error& error) {
    bool missing = error.code() == ErrorCode::driver_unavailable || error.code() == ErrorCode::no_device;
    finding.health = missing ? Health::missing : Health::bad;
    finding.summary = error.what();
    finding.remedy =
        "to run kernels here, install the NVIDIA driver and make the GPU visible (nvidia-smi shows it); "
        "to compile for other machines, give explicit targets";
  }
  gpus.insert(gpus.begin(), finding);
  return gpus;
}

Finding diagnose_cache_directory(const ServiceOptions& options) {
  Finding finding;
  finding.name = "cache directory";
  if (options.cache_mode == CacheMode::off) {
    finding.summary = "off: kernels are kept in memory only";
    return finding;
  }
  if (!options.cache_dir) {
    finding.health = Health::missing;
    finding.summary = "none: kernels are kept in memory only";
    finding.remedy = "set KILN_CACHE_DIR, or HOME";
    return finding;
  }
  const std::filesystem::path& directory = *options.cache_dir;
  cache::Trust trust = cache::trust_directory(directory, cache::Owner::caller, geteuid());
  cache::FileSystem file_system = cache::file_system_of(directory);
  using Verdict = cache::Trust::Verdict;
  if (trust.verdict == Verdict::refused || trust.verdict == Verdict::failed) {
    finding.health = Health::bad;
    finding.summary = trust.reason;
    finding.remedy = "mend it as said, or set KILN_CACHE_DIR to a directory of your own";
    return finding;
  }
  finding.summary = directory.string() + (trust.verdict == Verdict::absent ? " (made at the first put)" : "") +
                    (options.cache_mode == CacheMode::read_only ? ", read only" : "") + ", on " + file_system.name +
                    ": " + file_system.reason;
  return finding;
}

Finding diagnose_layer(const LayerStats& layer) {
  Finding finding;
  finding.name = layer.name == "user" ? "cache" : "pack " + layer.name;
  finding.summary = layer.path.string() + ", " + std::to_string(layer.entries) +
                    (layer.entries == 1 ? " entry, " : " entries, ") + std::to_string(layer.bytes) + " bytes" +
                    (layer.journal.empty() ? "" : ", journal mode " + layer.journal);
  if (layer.degraded) {
    finding.health = Health::bad;
    finding.summary = layer.trouble;
    finding.remedy = "`kiln verify` looks closer; Kiln goes on without this layer meanwhile";
  }
  return finding;
}

}  // namespace

std::vector<Finding> diagnose(const ServiceOptions& options) {
  std::vector<Finding> findings = {diagnose_nvrtc(options)};
  for (Finding& finding : diagnose_driver()) {
    findings.push_back(std::move(finding));
  }
  findings.push_back(diagnose_cache_directory(options));

  ServiceOptions reading = options;
  if (reading.cache_mode == CacheMode::read_write) {
    reading.cache_mode = CacheMode::read_only;  // looking must not make anything
  }
  cache::LayeredStore store(reading);
  store.contains(Key{});  // opens every layer
  Stats stats;
  store.fill(stats);
  for (const LayerStats& layer : stats.layers) {
    findings.push_back(diagnose_layer(layer));
  }
  return findings;
}

}  // namespace kiln
