#include "jit/library.hpp"

#include <array>
#include <cstring>
#include <string>

#include "jit/driver_api.hpp"
#include "jit/image.hpp"
#include "jit/launch.hpp"
#include "jit/upload.hpp"
#include "kiln/error.hpp"

namespace kiln::jit {

namespace {

std::string describe(const Artifact& artifact) {
  return "template " + artifact.template_name + " for " + artifact.target.text();
}

std::string describe(const Artifact& artifact, const EntryPoint& entry) {
  return "kernel '" + entry.expression + "' (symbol " + entry.lowered + ") of " + describe(artifact);
}

enum class Form { cubin, ptx };

/// Which of the artifact's two forms the current device runs.
Form choose_form(const Artifact& artifact, const Target& device) {
  const Target& target = artifact.target;
  if (runs_on(target, device.capability())) {
    return artifact.kind == ImageKind::ptx ? Form::ptx : Form::cubin;
  }
  bool newer_device = runs_on(Target::ptx(target.capability(), target.suffix()), device.capability());
  if (artifact.kind == ImageKind::cubin && newer_device && target.suffix() == '\0' && !artifact.ptx.empty()) {
    return Form::ptx;
  }
  throw Error(ErrorCode::unsupported_target, describe(artifact) + " cannot run on the current device, which is " +
                                                 device.text() + ": ask for that target, or for native");
}

std::string ptx_text(const Artifact& artifact) {
  if (artifact.kind == ImageKind::cubin) {
    return artifact.ptx;
  }
  // The driver wants a text that ends in NUL, which std::string adds; one that NVRTC counted into the image is
  // harmless.
  return {reinterpret_cast<const char*>(artifact.image.data()), artifact.image.size()};
}

/// Gives the driver the image. `log` receives what its PTX compiler says.
CudaResult load_image(const DriverApi& api, const void* image, std::span<char> log, LoadedImage& loaded) {
  std::array<int, 2> options{k_jit_error_log_buffer, k_jit_error_log_buffer_bytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  unsigned count = log.empty() ? 0 : 2;
  if (api.has_libraries()) {
    return api.library_load_data(&loaded.library, image, options.data(), values.data(), count, nullptr, nullptr, 0);
  }
  return api.module_load_data_ex(&loaded.module, image, count, options.data(), values.data());
}

const char* load_call(const DriverApi& api) { return api.has_libraries() ? "cuLibraryLoadData" : "cuModuleLoadDataEx"; }

LoadedImage load_ptx(const Driver& driver, const Artifact& artifact, const ContextId& context) {
  std::array<char, 8192> log{};
  LoadedImage loaded{.context = context};
  std::string text = ptx_text(artifact);
  CudaResult result = load_image(driver.api(), text.c_str(), log, loaded);
  if (result != k_cuda_success) {
    std::string said(log.data(), strnlen(log.data(), log.size()));
    throw_driver_error(driver.api(), result, load_call(driver.api()),
                       describe(artifact) + " (PTX)" + (said.empty() ? "" : ", of which the driver says: " + said));
  }
  return loaded;
}

LoadedImage load_cubin(const Driver& driver, const Artifact& artifact, const ContextId& context) {
  LoadedImage loaded{.context = context};
  std::string object = describe(artifact) + " (cubin of " + std::to_string(artifact.image.size()) + " bytes)";
  if (!is_whole_elf(artifact.image)) {
    throw_driver_error(driver.api(), k_cuda_invalid_image, load_call(driver.api()),
                       object + ", which is cut short or no ELF file");
  }
  check(driver.api(), load_image(driver.api(), artifact.image.data(), {}, loaded), load_call(driver.api()), object);
  return loaded;
}

CUfunc_st* find_function(const DriverApi& api, const Library& library, const EntryPoint& entry) {
  std::string object = describe(library.artifact(), entry);
  CUfunc_st* function = nullptr;
  if (library.image().library != nullptr) {
    CUkern_st* kernel = nullptr;
    check(api, api.library_get_kernel(&kernel, library.image().library, entry.lowered.c_str()), "cuLibraryGetKernel",
          object);
    check(api, api.kernel_get_function(&function, kernel), "cuKernelGetFunction", object);
  } else {
    check(api, api.module_get_function(&function, library.image().module, entry.lowered.c_str()), "cuModuleGetFunction",
          object);
  }
  // The driver loads code lazily, at the first launch. That must not fall into a stream capture.
  if (api.func_load != nullptr) {
    check(api, api.func_load(function), "cuFuncLoad", object);
  } else {
    int registers = 0;
    check(api, api.func_get_attribute(&registers, k_function_registers, function), "cuFuncGetAttribute", object);
  }
  return function;
}

/// Absent where the driver does not tell.
std::optional<std::vector<std::size_t>> parameter_sizes(const DriverApi& api, CUfunc_st* function) {
  if (api.func_get_param_info == nullptr) {
    return std::nullopt;
  }
  std::vector<std::size_t> sizes;
  while (true) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    CudaResult result = api.func_get_param_info(function, sizes.size(), &offset, &bytes);
    if (result == k_cuda_invalid_value) {
      return sizes;  // one past the last
    }
    if (result != k_cuda_success) {
      return std::nullopt;
    }
    sizes.push_back(bytes);
  }
}

}  // namespace

bool is_image_error(int cuda_result) noexcept {
  switch (cuda_result) {
    case k_cuda_invalid_value:  // what older drivers say of a damaged image
    case k_cuda_invalid_image:
    case k_cuda_no_binary_for_gpu:
    case k_cuda_invalid_ptx:
    case k_cuda_unsupported_ptx_version:
    case k_cuda_unsupported_devside_sync:
    case k_cuda_invalid_source:
    case k_cuda_symbol_not_found:
    case k_cuda_object_init_failed:
    case k_cuda_not_found:  // an entry or a symbol that the image lacks
      return true;
    default:
      return false;
  }
}

std::vector<std::shared_ptr<const LoadedKernel>> load(const std::shared_ptr<const Driver>& driver,
                                                      std::shared_ptr<const Artifact> artifact, std::string_view symbol,
                                                      std::span<const std::byte> data) {
  Driver::require_usable();
  const DriverApi& api = driver->api();
  ContextId context = driver->current_context();
  Form form = choose_form(*artifact, driver->current_target());
  if (driver->capture_active()) {
    throw Error(ErrorCode::capture_active,
                describe(*artifact) +
                    " is not loaded yet, and a stream of the current context is being captured: get the "
                    "kernel once before the capture begins. The capture is not affected");
  }
  driver->unloads().flush();
  RelaxedCapture relaxed(api);
  LoadedImage image =
      form == Form::ptx ? load_ptx(*driver, *artifact, context) : load_cubin(*driver, *artifact, context);
  auto library = std::make_shared<const Library>(driver, artifact, image);
  if (!data.empty()) {
    upload(*library, std::string(symbol), data);
  }
  std::vector<std::shared_ptr<const LoadedKernel>> kernels;
  kernels.reserve(artifact->entries.size());
  for (const EntryPoint& entry : artifact->entries) {
    CUfunc_st* function = find_function(api, *library, entry);
    kernels.push_back(std::make_shared<const LoadedKernel>(library, entry, function, parameter_sizes(api, function)));
  }
  return kernels;
}

}  // namespace kiln::jit
