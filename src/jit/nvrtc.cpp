#include "jit/nvrtc.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "jit/compiler_gate.hpp"
#include "jit/compiler_output.hpp"
#include "jit/cubin_info.hpp"
#include "jit/entry_problem.hpp"
#include "jit/nvrtc_api.hpp"
#include "kiln/error.hpp"
#include "support/unique_handle.hpp"

namespace kiln::jit {

struct Nvrtc::State {
  std::string path;
  NvrtcApi api;
  int major = 0;
  int minor = 0;
  std::vector<Target> supported;
  mutable std::atomic<int> build{0};  ///< 0: not known yet

  bool at_least(int wanted_major, int wanted_minor) const {
    return std::pair(major, minor) >= std::pair(wanted_major, wanted_minor);
  }
};

namespace {

/// A program knows the library it belongs to, so that its handle can be closed.
struct OpenProgram {
  const NvrtcApi* api = nullptr;
  NvrtcApi::Program program = nullptr;
  friend bool operator==(const OpenProgram&, const OpenProgram&) = default;
};

struct ProgramTraits {
  using Type = OpenProgram;
  static Type invalid() noexcept { return {}; }
  static void close(Type handle) noexcept { handle.api->destroy(&handle.program); }
};

using UniqueProgram = support::UniqueHandle<ProgramTraits>;

[[noreturn]] void fail(const NvrtcApi& api, int result, std::string_view call) {
  throw Error(ErrorCode::nvrtc_unavailable, "NVRTC's " + std::string(call) + " failed: " + api.error_string(result) +
                                                " (" + std::to_string(result) + ")");
}

void check(const NvrtcApi& api, int result, std::string_view call) {
  if (result != 0) {
    fail(api, result, call);
  }
}

UniqueProgram create(const NvrtcApi& api, const Source& source) {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const Header& header : source.headers) {
    texts.push_back(header.text.c_str());
    names.push_back(header.name.c_str());
  }
  NvrtcApi::Program program = nullptr;
  check(api,
        api.create(&program, source.text.c_str(), source.name.c_str(), static_cast<int>(names.size()), texts.data(),
                   names.data()),
        "nvrtcCreateProgram");
  UniqueProgram owner(OpenProgram{&api, program});
  for (const std::string& entry : source.entries) {
    check(api, api.add_name(program, entry.c_str()), "nvrtcAddNameExpression");
  }
  return owner;
}

/// A text of the program by its two calls; they count the NUL.
std::string text_of(const NvrtcApi& api, NvrtcApi::Program program, int (*size_of)(NvrtcApi::Program, std::size_t*),
                    int (*get)(NvrtcApi::Program, char*), std::string_view call) {
  std::size_t size = 0;
  check(api, size_of(program, &size), call);
  std::string text(size, '\0');
  if (size != 0) {
    check(api, get(program, text.data()), call);
  }
  text.resize(strnlen(text.data(), text.size()));
  return text;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::vector<std::byte> cubin_of(const NvrtcApi& api, NvrtcApi::Program program) {
  std::size_t size = 0;
  check(api, api.cubin_size(program, &size), "nvrtcGetCUBINSize");
  std::vector<std::byte> image(size);
  check(api, api.cubin(program, reinterpret_cast<char*>(image.data())), "nvrtcGetCUBIN");
  return image;
}

/// `a` came with CUDA 12.0 for architectures from 9.0 on, `f` with 12.9 for those from 10.0 on; nvrtcGetSupportedArchs
/// tells plain numbers only.
std::vector<Target> supported_by(const NvrtcApi& api, bool has_a, bool has_f) {
  int count = 0;
  check(api, api.arch_count(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> capabilities(static_cast<std::size_t>(count));
  check(api, api.archs(capabilities.data()), "nvrtcGetSupportedArchs");
  std::vector<Target> targets;
  for (int capability : capabilities) {
    targets.push_back(Target::cubin(capability));
    if (has_a && capability >= 90) {
      targets.push_back(Target::cubin(capability, 'a'));
    }
    if (has_f && capability >= 100) {
      targets.push_back(Target::cubin(capability, 'f'));
    }
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

bool asks_for_report(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](std::string_view argument) {
    return argument.starts_with("--ptxas-options=") &&
           (argument.ends_with("-v") || argument.find("-v ") != std::string_view::npos ||
            argument.find("-v,") != std::string_view::npos || argument.find("--verbose") != std::string_view::npos);
  });
}

std::string joined(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& target : targets) {
    text += (text.empty() ? "" : " ") + target.text();
  }
  return text;
}

}  // namespace

std::shared_ptr<const Nvrtc> Nvrtc::open(const NvrtcSearch& search) {
  if (!search.found) {
    std::string places;
    for (const std::string& place : search.looked_in) {
      places += "\n  " + place;
    }
    throw Error(
        ErrorCode::nvrtc_unavailable,
        "no NVRTC was found; install CUDA's NVRTC (pip install nvidia-cuda-nvrtc) or name the library file with "
        "KILN_NVRTC; looked in" +
            places);
  }
  CompilerPassage passage;  // the loader has locks too
  auto state = std::make_shared<State>();
  state->path = search.found->path.string();
  state->api = open_nvrtc(state->path);
  check(state->api, state->api.version(&state->major, &state->minor), "nvrtcVersion");
  state->supported = supported_by(state->api, state->at_least(12, 0), state->at_least(12, 9));
  return std::shared_ptr<const Nvrtc>(new Nvrtc(std::move(state)));
}

const std::vector<Target>& Nvrtc::supported() const noexcept { return state_->supported; }
const std::string& Nvrtc::path() const noexcept { return state_->path; }

Target Nvrtc::resolve(const Target& target) const {
  const std::vector<Target>& known = state_->supported;
  auto as_cubin = Target::cubin(target.capability(), target.suffix());
  if (!target.is_native() && std::find(known.begin(), known.end(), as_cubin) != known.end()) {
    return target;
  }
  // GPUs that came out of order: 12.9 knows sm_121, but not the sm_88 and sm_110 of 13.0.
  constexpr std::array k_late{88, 101, 103, 110, 121};
  int highest = known.back().capability();
  bool is_real =
      target.capability() > highest || std::find(k_late.begin(), k_late.end(), target.capability()) != k_late.end();
  if (target.kind() == Target::Kind::cubin && target.suffix() == '\0' && is_real) {
    auto above = std::find_if(known.begin(), known.end(),
                              [&](const Target& other) { return other.capability() > target.capability(); });
    if (above != known.begin()) {
      return Target::ptx(std::prev(above)->capability());
    }
  }
  throw Error(ErrorCode::unsupported_target, "target " + target.text() + " is not among those of NVRTC " +
                                                 std::to_string(state_->major) + "." + std::to_string(state_->minor) +
                                                 ": " + joined(known) +
                                                 (target.kind() == Target::Kind::ptx ? " (each as compute_ too)" : ""));
}

Compiler Nvrtc::identity() const {
  if (state_->build == 0) {
    Source empty;
    empty.name = "identity.cu";
    empty.text = "extern \"C\" __global__ void kiln_identity() {}\n";
    empty.entries = {"kiln_identity"};
    // PTX is enough, and the quickest.
    Target target = Target::ptx(state_->supported.front().capability());
    compile(empty, target, compile_arguments(empty, target));
  }
  return {state_->major, state_->minor, state_->build};
}

Artifact Nvrtc::compile(const Source& source, const Target& target, const CompileArguments& arguments) const {
  const NvrtcApi& api = state_->api;
  std::vector<std::string> all = arguments.keyed;
  for (const std::string& argument : arguments.serving) {
    if (argument != "--no-cache" || state_->at_least(12, 9)) {
      all.push_back(argument);
    }
  }
  std::vector<const char*> options;
  for (const std::string& argument : all) {
    options.push_back(argument.c_str());
  }

  CompilerPassage passage;
  auto start = std::chrono::steady_clock::now();
  UniqueProgram owner = create(api, source);
  NvrtcApi::Program program = owner.get().program;
  int result = api.compile(program, static_cast<int>(options.size()), options.data());
  std::string log = text_of(api, program, api.log_size, api.log, "nvrtcGetProgramLog");
  if (result == k_nvrtc_builtins_error) {
    throw Error(ErrorCode::nvrtc_unavailable,
                "NVRTC " + state_->path + " lacks its libnvrtc-builtins, which must lie beside it: " + log);
  }
  SplitLog split = split_log(log);
  if (result != 0) {
    std::string problem = entry_problem(split.text, source);
    problem = problem.empty() ? split.text : problem;
    throw CompileError(source.name, problem.empty() ? api.error_string(result) : problem, numbered(source),
                       std::move(all));
  }

  Artifact artifact;
  artifact.template_name = source.name;
  artifact.target = target;
  artifact.ptx = text_of(api, program, api.ptx_size, api.ptx, "nvrtcGetPTX");
  if (int build = build_of(artifact.ptx); build != 0) {
    state_->build = build;
  }
  artifact.compiler = {state_->major, state_->minor, state_->build};
  artifact.kind = target.kind() == Target::Kind::cubin ? ImageKind::cubin : ImageKind::ptx;
  artifact.image = artifact.kind == ImageKind::cubin ? cubin_of(api, program) : bytes_of(artifact.ptx);
  artifact.log = asks_for_report(arguments.keyed) ? std::move(log) : std::move(split.text);

  std::map<std::string, KernelResources> resources;
  if (artifact.kind == ImageKind::cubin) {
    resources = read_cubin(artifact.image, target.capability());
  }
  for (const std::string& expression : source.entries) {
    const char* lowered = nullptr;
    check(api, api.lowered_name(program, expression.c_str(), &lowered), "nvrtcGetLoweredName");
    EntryPoint entry;
    entry.expression = expression;
    entry.lowered = lowered;
    const KernelResources& used = resources[entry.lowered];
    entry.registers = used.registers;
    entry.shared_bytes = used.shared_bytes;
    entry.local_bytes = used.local_bytes;
    entry.spill_bytes = split.spills[entry.lowered];
    artifact.entries.push_back(std::move(entry));
  }
  artifact.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return artifact;
}

}  // namespace kiln::jit
