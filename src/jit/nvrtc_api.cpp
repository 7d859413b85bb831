#include "jit/nvrtc_api.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "kiln/error.hpp"

namespace kiln::jit {

namespace {

template <typename Function>
void find(void* library, const std::string& path, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr) {
    throw Error(ErrorCode::nvrtc_unavailable,
                path + " has no " + symbol + ": it is no NVRTC, or one before 11.8; use 11.8 or newer");
  }
}

/// NVRTC opens its builtins by their bare name at the first compile. Where nothing else tells the loader of their
/// folder (PyPI's wheel of 13.0 has no run path), they are found only if they are loaded already. Trouble is NVRTC's to
/// tell: it may find them in another way.
void preload_builtins(const NvrtcApi& api, const std::string& path) {
  int major = 0;
  int minor = 0;
  if (api.version(&major, &minor) == 0) {
    std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
    dlopen((std::filesystem::path(path).parent_path() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

}  // namespace

NvrtcApi open_nvrtc(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* problem = dlerror();
    throw Error(
        ErrorCode::nvrtc_unavailable,
        "NVRTC cannot be opened: " + std::string(problem ? problem : path.c_str()) + "; name another with KILN_NVRTC");
  }
  NvrtcApi api;
  find(library, path, "nvrtcVersion", api.version);
  find(library, path, "nvrtcGetErrorString", api.error_string);
  find(library, path, "nvrtcGetNumSupportedArchs", api.arch_count);
  find(library, path, "nvrtcGetSupportedArchs", api.archs);
  find(library, path, "nvrtcCreateProgram", api.create);
  find(library, path, "nvrtcDestroyProgram", api.destroy);
  find(library, path, "nvrtcCompileProgram", api.compile);
  find(library, path, "nvrtcGetProgramLogSize", api.log_size);
  find(library, path, "nvrtcGetProgramLog", api.log);
  find(library, path, "nvrtcGetPTXSize", api.ptx_size);
  find(library, path, "nvrtcGetPTX", api.ptx);
  find(library, path, "nvrtcGetCUBINSize", api.cubin_size);
  find(library, path, "nvrtcGetCUBIN", api.cubin);
  find(library, path, "nvrtcAddNameExpression", api.add_name);
  find(library, path, "nvrtcGetLoweredName", api.lowered_name);
  preload_builtins(api, path);
  return api;
}

}  // namespace kiln::jit
