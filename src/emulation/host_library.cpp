#include "emulation/host_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "emulation/cuda_emulation.hpp"
#include "emulation/host_compiler.hpp"
#include "emulation/sanitizers.hpp"
#include "emulation/shared_memory.hpp"
#include "emulation/workspace.hpp"
#include "emulation/wrapper.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::emulation {
namespace {

constexpr const char* k_emulation_header = "cuda_emulation.h";
constexpr const char* k_wrapper_file = "kiln_emulation_wrapper.cpp";

void write_sources(const Source& source, const Workspace& workspace) {
  const std::filesystem::path folder = k_source_folder;
  workspace.write(k_emulation_header, k_cuda_emulation);
  workspace.write(folder / source.name, prepare_shared_memory(source.text));
  for (const Header& header : source.headers) {
    workspace.write(folder / header.name, prepare_shared_memory(header.text));
  }
  workspace.write(k_wrapper_file, wrapper_for(source, (workspace.path() / folder / source.name).string()));
}

/// Of the options meant for NVRTC, only macros mean anything here.
void add_macros(const std::vector<std::string>& options, std::vector<std::string>& arguments) {
  constexpr std::string_view k_define = "--define-macro=";
  constexpr std::string_view k_undefine = "--undefine-macro=";
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    if (option.starts_with(k_define)) {
      arguments.push_back("-D" + option.substr(k_define.size()));
    } else if (option.starts_with(k_undefine)) {
      arguments.push_back("-U" + option.substr(k_undefine.size()));
    } else if ((option == "-D" || option == "-U") && i + 1 < options.size()) {
      arguments.push_back(option + options[++i]);
    } else if (option.starts_with("-D") || option.starts_with("-U")) {
      arguments.push_back(option);
    }
  }
}

std::vector<std::string> compiler_arguments(const std::filesystem::path& compiler, const Source& source,
                                            const Target& target, const Workspace& workspace,
                                            const std::filesystem::path& library) {
  const std::string folder = (workspace.path() / k_source_folder).string();
  std::vector<std::string> arguments = {
      "-std=gnu++20", "-O1", "-w", "-fPIC", "-shared", "-nostdinc", "-nostdinc++", "-nostdlib", "-Wl,-Bsymbolic",
      // A kernel sees one type's bytes as another's; so does the emulation of dynamic shared memory.
      "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
      // What a GPU would refuse is found here too; the calls these checks make are in the emulation header.
      "-fsanitize=alignment,bounds,null", "-D__CUDA_ARCH__=" + std::to_string(target.capability() * 10), "-include",
      (workspace.path() / k_emulation_header).string(), "-I" + folder};
  if (!is_clang(compiler)) {
    // Else g++ makes one variable of the inline and static ones of all kernels that are loaded.
    arguments.emplace_back("-fno-gnu-unique");
  }
  if (sanitizers::k_address) {
    arguments.insert(arguments.end(), {"-fsanitize=address", "-g1", "-fno-omit-frame-pointer"});
  }
  add_macros(source.options, arguments);
  arguments.insert(arguments.end(), {(workspace.path() / k_wrapper_file).string(), "-o", library.string()});
  return arguments;
}

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

void HostLibrary::Traits::close(Type handle) noexcept { dlclose(handle); }

HostLibrary::HostLibrary(const Source& source, const Target& target) {
  const std::filesystem::path compiler = find_host_compiler();
  const Workspace workspace;
  const std::filesystem::path library = workspace.path() / "kernel.so";
  write_sources(source, workspace);
  run_host_compiler(compiler, compiler_arguments(compiler, source, target, workspace, library), workspace, library);
  handle_.reset(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle_) {
    throw Error(ErrorCode::host_compiler,
                "the emulated kernel " + source.name + " cannot be loaded: " + loader_error());
  }
  module_ = static_cast<const kiln_emulation::Module*>(dlsym(handle_.get(), "kiln_emulation_module"));
  if (module_ == nullptr) {
    throw Error(ErrorCode::host_compiler,
                "the emulated kernel " + source.name + " lists no kernels: " + loader_error());
  }
}

void HostLibrary::write(const std::string& symbol, std::span<const std::byte> bytes) const {
  void* variable = dlsym(handle_.get(), symbol.c_str());
  Dl_info info{};
  ElfW(Sym)* entry = nullptr;
  if (variable == nullptr || dladdr1(variable, &info, reinterpret_cast<void**>(&entry), RTLD_DL_SYMENT) == 0 ||
      entry == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                "the kernel has no variable " + quote(symbol) + "; it must be __device__ and extern \"C\"");
  }
  if (entry->st_size < bytes.size()) {
    throw Error(ErrorCode::invalid_argument, "variable " + quote(symbol) + " has " + std::to_string(entry->st_size) +
                                                 " bytes; " + std::to_string(bytes.size()) + " were to be written");
  }
  std::memcpy(variable, bytes.data(), bytes.size());
}

}  // namespace kiln::emulation
