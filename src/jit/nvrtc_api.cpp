#include "jit/nvrtc_api.hpp"

#include <dlfcn.h>

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
  return api;
}

}  // namespace kiln::jit
