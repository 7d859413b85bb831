#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/excerpt.hpp"
#include "cli/interruption.hpp"
#include "cli/output_place.hpp"
#include "cli/request.hpp"
#include "cli/target_choice.hpp"
#include "kiln/source.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
  CompileArguments request;
  std::string emit;
  std::string output;
};

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What is asked to be emitted of an artifact.
std::string_view part_of(const Artifact& artifact, const std::string& emit) {
  std::string target = artifact.target.text();
  if (emit == "log") {
    return artifact.log;
  }
  if (emit == "cubin") {
    if (artifact.kind != ImageKind::cubin) {
      throw std::runtime_error(target + " was compiled to PTX, which is no cubin: use --emit ptx");
    }
    return text_of(artifact.image);
  }
  if (artifact.kind == ImageKind::ptx) {
    return text_of(artifact.image);
  }
  if (artifact.ptx.empty()) {
    throw std::runtime_error("the compiler gave no PTX beside the cubin for " + target + ": use a compute_ target");
  }
  return artifact.ptx;
}

/// Checks what can be checked before anything is compiled, and fills in what follows.
struct Emission {
  std::string part;    ///< empty: nothing is emitted
  std::string output;  ///< a file, or "-"
};

Emission plan_emission(const Arguments& arguments, std::size_t targets) {
  Emission emission{arguments.emit, arguments.output};
  if (emission.part.empty() && !emission.output.empty()) {
    emission.part = "cubin";
  }
  if (emission.part.empty()) {
    return emission;
  }
  if (emission.output.empty()) {
    emission.output = "-";
  }
  if (emission.part != "source" && targets > 1) {
    throw UsageError("--emit " + emission.part + " is for one target: give --target once");
  }
  if (emission.output == "-" && arguments.common.json) {
    throw UsageError("--json and --emit both write to standard output: give -o FILE");
  }
  if (emission.output == "-" && emission.part == "cubin" && is_terminal(STDOUT_FILENO)) {
    throw UsageError("a cubin is not for a terminal: give -o FILE");
  }
  return emission;
}

Lookup find_or_compile(const Service& service, const Template& tmpl, const Values& values, const Target& target) {
  TidyOnSignal tidy;
  try {
    return service.find_or_compile(tmpl, values, target);
  } catch (const CompileError& error) {
    std::string message = tmpl.name() + " does not compile for " + target.text() + ":\n" + error.log();
    throw Error(ErrorCode::compile_failed, message + excerpt(error.log(), error.source()));
  }
}

/// Nothing that is read may be written over: the template, its headers, and the files of values.
void require_no_input(const std::string& output, const Template& tmpl, const CompileArguments& request) {
  if (is_same_file(output, request.file)) {
    refuse_output(output, "the template itself");
  }
  require_no_header(output, tmpl.header_files());
  for (const std::string& definition : request.definitions) {
    const std::size_t equals = std::min(definition.find('='), definition.size());
    if (definition.compare(equals, 2, "=@") == 0 && is_same_file(output, definition.substr(equals + 2))) {
      refuse_output(output, "the file of -D " + definition.substr(0, equals));
    }
  }
}

void print(const Lookup& found, const Target& target, bool json, bool with_log, Output& out) {
  if (json) {
    print_json(out, to_json(found, found.artifact->key, target));
    return;
  }
  out.line(to_line(found, target));
  if (with_log && !found.artifact->log.empty()) {
    out.line(found.artifact->log);
  }
  out.flush();
}

ExitCode run(const Arguments& arguments, Output& out) {
  Emission emission = plan_emission(arguments, parse_targets(arguments.request.targets).size());
  Template tmpl = read_template(arguments.request);
  if (!emission.output.empty() && emission.output != "-") {
    require_no_input(emission.output, tmpl, arguments.request);
    require_free_place(emission.output, plain_options(arguments.common));
    require_place_for(emission.output);
  }
  Values values = read_values(tmpl, arguments.request.definitions);
  if (emission.part == "source") {
    write_file(out, emission.output, to_text(instantiate(tmpl, values)));
    return k_done;
  }
  Service service(service_options(arguments.common));
  for (const Target& target : choose_targets(arguments.request.targets)) {
    Lookup found = find_or_compile(service, tmpl, values, target);
    if (!emission.part.empty()) {
      write_file(out, emission.output, part_of(*found.artifact, emission.part));
    }
    if (emission.output != "-") {
      print(found, target, arguments.common.json, emission.part.empty(), out);
    }
  }
  return k_done;
}

}  // namespace

void add_compile(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] = add_command<Arguments>(
      app, chosen, "compile", "Instantiate and compile a template",
      "  kiln compile scale.cu -D n=36 -D factor=0.5 -D element=float --target sm_90\n"
      "  kiln compile lookup.cu -D table=@table.json -I include --target sm_80 --target sm_90a --json\n"
      "  kiln compile scale.cu -D n=36 --emit source\n"
      "  kiln compile scale.cu -D n=36 --target sm_90 -o scale.cubin\n",
      run);
  add_compile_arguments(syntax, arguments->request);
  syntax
      .choice("--emit", arguments->emit, {"cubin", "ptx", "source", "log"},
              "Write the cubin, the PTX, the instantiated source (which compiles nothing) or the compiler's log, to "
              "standard output unless -o is given")
      .text("-o", arguments->output, "FILE",
            "File to write, whole or not at all; alone it means --emit cubin; - is standard output")
      .output("-o");
}

}  // namespace kiln::cli
