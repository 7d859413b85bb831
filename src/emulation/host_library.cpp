#include "emulation/host_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

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

/// What stands behind the name of an option: "X" of -DX, "-D X", -D=X, --define-macro=X and "-define-macro X", which
/// are all taken for NVRTC; empty when the value is the next option. Nothing for another option.
std::optional<std::string_view> value_behind(std::string_view letter, std::string_view name, std::string_view option) {
  std::string_view rest;
  if (option.starts_with(letter)) {
    rest = option.substr(letter.size());
  } else if (const std::string_view word = option.substr(option.starts_with("--") ? 1 : 0); word.starts_with(name)) {
    rest = word.substr(name.size());
    if (!rest.empty() && rest.front() != '=' && rest.front() != ' ') {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  rest.remove_prefix(!rest.empty() && (rest.front() == '=' || rest.front() == ' ') ? 1 : 0);
  return rest;
}

/// Of the options meant for NVRTC, only macros mean anything here.
void add_macros(const std::vector<std::string>& options, std::vector<std::string>& arguments) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> k_kinds{
      {{"-D", "-define-macro"}, {"-U", "-undefine-macro"}}};
  for (std::size_t i = 0; i < options.size(); ++i) {
    for (const auto& [letter, name] : k_kinds) {
      std::optional<std::string_view> value = value_behind(letter, name, options[i]);
      if (value && value->empty() && i + 1 < options.size()) {
        value = options[++i];
      }
      if (value && !value->empty()) {
        arguments.push_back(std::string(letter) + std::string(*value));
        break;
      }
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
      "-fsanitize=alignment,bounds,integer-divide-by-zero,null",
      "-D__CUDA_ARCH__=" + std::to_string(target.capability() * 10), "-include",
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
