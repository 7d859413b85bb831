// A libnvrtc that compiles nothing: it makes an image and PTX out of everything it is given, and does what the files
// beside it say (fake_nvrtc.hpp). Copies of it are opened by tests, never linked.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "jit/nvrtc_api.hpp"

namespace kiln::jit {

/// A program as NVRTC would keep it.
struct NvrtcProgram {
  std::string name;
  std::string everything;  ///< all that the result depends on
  std::string log;
  std::string ptx;
  std::string cubin;
  std::map<std::string, std::string> lowered;
};

}  // namespace kiln::jit

namespace {

using kiln::jit::NvrtcProgram;

constexpr int k_success = 0;
constexpr int k_invalid_input = 3;
constexpr std::array k_capabilities{75, 80, 86, 89, 90, 100, 103, 120};

/// A file beside the library.
std::string beside(const char* name) {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&beside), &info);
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + name;
}

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string read(const char* name, const char* fallback) {
  std::ifstream stream(beside(name));
  std::string content{std::istreambuf_iterator<char>(stream), {}};
  return content.empty() ? fallback : content;
}

struct Version {
  int major = 0;
  int minor = 0;
  int build = 0;
};

Version version() {
  Version found;
  std::sscanf(read("version", "13.0.88").c_str(), "%d.%d.%d", &found.major, &found.minor, &found.build);
  return found;
}

/// A line when a compile begins and one when it ends, each written with one call: processes may compile at once.
void note(const char* what) {
  if (!is_there(beside("compiles"))) {
    return;
  }
  int file = open(beside("compiles").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  std::string line = what + std::to_string(getpid()) + "\n";
  if (file < 0 || write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::terminate();
  }
  close(file);
}

std::uint64_t hash(std::string_view text) {
  std::uint64_t state = 14695981039346656037U;
  for (char c : text) {
    state = (state ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return state;
}

/// As long as asked for, different for each `seed`, with the header of a cubin without sections.
std::string make_cubin(std::uint64_t seed, std::size_t size) {
  std::string image(std::max<std::size_t>(size, 64), '\0');
  for (std::size_t i = 64; i < image.size(); ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    image[i] = static_cast<char>(seed >> 56);
  }
  constexpr std::string_view k_ident("\177ELF\2\1\1", 7);
  std::copy(k_ident.begin(), k_ident.end(), image.begin());
  image[16] = 2;                        // executable
  image[18] = static_cast<char>(190U);  // EM_CUDA
  return image;
}

/// The line that an #error stands in; 0 for none.
int line_of_error(std::string_view text) {
  std::size_t at = text.find("#error");
  return at == std::string_view::npos ? 0 : 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
}

int compile(NvrtcProgram& program) {
  note("+");
  while (is_there(beside("hold"))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(read("milliseconds", "0"))));
  note("-");
  if (!program.log.empty()) {
    return kiln::jit::k_nvrtc_compilation_error;
  }
  Version by = version();
  std::uint64_t seed = hash(program.everything + read("version", ""));
  program.cubin = make_cubin(seed, std::stoul(read("image_bytes", "3000")));
  std::string release = std::to_string(by.major) + "." + std::to_string(by.minor);
  program.ptx = "// Cuda compilation tools, release " + release + ", V" + release + "." + std::to_string(by.build) +
                "\n.version 8.0\n.target sm_80\n.address_size 64\n// " + std::to_string(seed) + "\n";
  return k_success;
}

int give(const std::string& text, char* out) {
  std::memcpy(out, text.c_str(), text.size() + 1);
  return k_success;
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED int nvrtcVersion(int* major, int* minor) {
  *major = version().major;
  *minor = version().minor;
  return k_success;
}

EXPORTED const char* nvrtcGetErrorString(int result) {
  return result == k_success ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION";
}

EXPORTED int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(k_capabilities.size());
  return k_success;
}

EXPORTED int nvrtcGetSupportedArchs(int* capabilities) {
  std::copy(k_capabilities.begin(), k_capabilities.end(), capabilities);
  return k_success;
}

EXPORTED int nvrtcCreateProgram(NvrtcProgram** program, const char* text, const char* name, int headers,
                                const char* const* texts, const char* const* names) {
  *program = new NvrtcProgram;
  NvrtcProgram& made = **program;
  made.name = name;
  made.everything = std::string(name) + '\0' + text;
  for (int i = 0; i < headers; ++i) {
    made.everything += std::string("\0", 1) + names[i] + '\0' + texts[i];
  }
  if (int line = line_of_error(text); line != 0) {
    made.log = made.name + "(" + std::to_string(line) + "): error: #error directive\n\n1 error detected.\n";
  }
  return k_success;
}

EXPORTED int nvrtcDestroyProgram(NvrtcProgram** program) {
  delete *program;
  *program = nullptr;
  return k_success;
}

EXPORTED int nvrtcAddNameExpression(NvrtcProgram* program, const char* expression) {
  std::string symbol = expression;
  std::replace_if(symbol.begin(), symbol.end(), [](char c) { return std::strchr("<>:, *&", c) != nullptr; }, '_');
  program->lowered[expression] = symbol;
  program->everything += std::string("\0", 1) + expression;
  return k_success;
}

EXPORTED int nvrtcCompileProgram(NvrtcProgram* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) {
    program->everything += std::string("\0", 1) + options[i];
  }
  return compile(*program);
}

EXPORTED int nvrtcGetLoweredName(NvrtcProgram* program, const char* expression, const char** lowered) {
  auto found = program->lowered.find(expression);
  *lowered = found == program->lowered.end() ? nullptr : found->second.c_str();
  return *lowered == nullptr ? k_invalid_input : k_success;
}

EXPORTED int nvrtcGetProgramLogSize(NvrtcProgram* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return k_success;
}
EXPORTED int nvrtcGetProgramLog(NvrtcProgram* program, char* log) { return give(program->log, log); }

EXPORTED int nvrtcGetPTXSize(NvrtcProgram* program, std::size_t* size) {
  *size = program->ptx.size() + 1;
  return k_success;
}
EXPORTED int nvrtcGetPTX(NvrtcProgram* program, char* ptx) { return give(program->ptx, ptx); }

EXPORTED int nvrtcGetCUBINSize(NvrtcProgram* program, std::size_t* size) {
  *size = program->cubin.size();
  return k_success;
}
EXPORTED int nvrtcGetCUBIN(NvrtcProgram* program, char* cubin) {
  std::copy(program->cubin.begin(), program->cubin.end(), cubin);
  return k_success;
}
