#pragma once

#include <cstddef>
#include <string>

namespace kiln::jit {

/// NVRTC's entry points as Kiln calls them: our own declarations of its stable C ABI, so that building needs no CUDA
/// toolkit. Results are nvrtcResult values; 0 is success.
struct NvrtcApi {
  using Program = struct NvrtcProgram*;  // nvrtcProgram

  int (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(int result) = nullptr;
  int (*arch_count)(int* count) = nullptr;
  int (*archs)(int* capabilities) = nullptr;
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int count, const char* const* options) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*add_name)(Program, const char* expression) = nullptr;
  int (*lowered_name)(Program, const char* expression, const char** lowered) = nullptr;
};

inline constexpr int k_nvrtc_compilation_error = 6;
inline constexpr int k_nvrtc_builtins_error = 7;

/// Opens the library file and finds its entry points. It is never closed: NVRTC keeps state that does not survive
/// dlclose. Throws Error{nvrtc_unavailable} naming the file and what is wrong with it.
NvrtcApi open_nvrtc(const std::string& path);

}  // namespace kiln::jit
