#include "kiln/template.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "jit/builtin.hpp"
#include "jit/declarations.hpp"
#include "jit/headers.hpp"
#include "jit/literal.hpp"
#include "kiln/error.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/quote.hpp"
#include "kiln/text_file.hpp"

namespace kiln {

struct Template::State {
  std::string name;
  std::string text;
  std::vector<Parameter> parameters;
  std::vector<std::string> entries;
  std::vector<std::string> options;
  std::vector<Header> headers;
  std::vector<std::filesystem::path> header_files;

  /// Everything that makes a template, wherever its text came from. `beside` is its folder, if it has one; `closure`
  /// what is known to be found for it.
  static std::shared_ptr<const State> make(std::string name, std::string text, TemplateOptions options,
                                           const std::filesystem::path& beside,
                                           std::optional<jit::Closure> closure = {});
};

namespace {

void check_name(const std::string& name) {
  // The compiler takes one with a dash in front for an option.
  bool is_plain = !name.empty() && name.front() != '-' && name != "." && name != ".." &&
                  std::none_of(name.begin(), name.end(), [](char c) {
                    return c == '/' || c == '\\' || c == '"' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
                  });
  if (!is_plain) {
    throw TemplateError(quote(name), {},
                        "a template's name is a plain file name, such as scale.cu, not " + quote(name));
  }
}

/// A name expression goes to the compiler as one line of its own.
void check_entry(const std::string& name, const std::string& entry) {
  bool is_line = entry.find_first_not_of(' ') != std::string::npos && !entry.ends_with('\\') &&
                 std::none_of(entry.begin(), entry.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (!is_line) {
    throw TemplateError(name, {},
                        "entry " + quote(entry) +
                            " is no name of a kernel: write it as C++ would, on one line, "
                            "for example scale<float>");
  }
}

void check_include_dir(const std::filesystem::path& dir) {
  struct stat status{};
  int error = ::stat(dir.c_str(), &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  if (error != 0) {
    throw Error(ErrorCode::file_unreadable, "include folder " + quote_path(dir) + " cannot be searched: " +
                                                (error == ENOTDIR ? "it is no folder; name one" : file_trouble(error)));
  }
}

/// What find_headers gives for a built-in template to which nothing is added.
jit::Closure closure_of(const jit::BuiltinTemplate& builtin) {
  jit::Closure closure;
  closure.text = builtin.text;
  closure.headers.reserve(builtin.headers.size());
  for (std::size_t number : builtin.headers) {
    const jit::BuiltinHeader& header = jit::builtin_headers()[number];
    closure.headers.push_back({std::string(header.name), std::string(header.text)});
  }
  return closure;
}

}  // namespace

std::shared_ptr<const Template::State> Template::State::make(std::string name, std::string text,
                                                             TemplateOptions options,
                                                             const std::filesystem::path& beside,
                                                             std::optional<jit::Closure> closure) {
  check_name(name);
  jit::Declarations declarations = jit::read_declarations(name, text);
  if (!options.entries.empty()) {
    declarations.entries = std::move(options.entries);
  }
  if (declarations.entries.empty()) {
    throw TemplateError(name, {},
                        "no kernel is named: add a line '// kiln: entry NAME' or give TemplateOptions::entries");
  }
  for (const std::string& entry : declarations.entries) {
    check_entry(name, entry);
  }
  for (const std::filesystem::path& dir : options.include_dirs) {
    check_include_dir(dir);
  }
  if (!closure) {
    jit::HeaderSearch search;
    search.beside = beside;
    search.include_dirs = std::move(options.include_dirs);
    search.memory = std::move(options.headers);
    search.options = options.options;
    search.takes_code = std::any_of(declarations.parameters.begin(), declarations.parameters.end(),
                                    [](const Parameter& p) { return p.type == ParameterType::code; });
    closure = jit::find_headers(name, std::move(text), search);
  }

  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->text = std::move(closure->text);
  state->parameters = std::move(declarations.parameters);
  state->entries = std::move(declarations.entries);
  state->options = std::move(options.options);
  state->headers = std::move(closure->headers);
  state->header_files = std::move(closure->files);
  return state;
}

Template Template::from_text(std::string name, std::string text, TemplateOptions options) {
  return Template(State::make(std::move(name), std::move(text), std::move(options), {}));
}

Template Template::from_file(const std::filesystem::path& path, TemplateOptions options) {
  std::string text = read_text_file(path, "template");
  std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return Template(State::make(path.filename().string(), std::move(text), std::move(options), folder));
}

Template Template::builtin(std::string_view name, TemplateOptions options) {
  std::string_view stem = name.ends_with(".cu") ? name.substr(0, name.size() - 3) : name;
  const jit::BuiltinTemplate* builtin = jit::builtin_template(stem);
  if (builtin == nullptr) {
    std::string known;
    for (const std::string& other : builtin_names()) {
      known += (known.empty() ? "" : ", ") + other;
    }
    throw Error(ErrorCode::invalid_argument, "there is no built-in template " + quote(name) + ", only " + known);
  }
  std::optional<jit::Closure> closure;
  if (options.include_dirs.empty() && options.headers.empty() && options.options.empty()) {
    closure = closure_of(*builtin);
  }
  std::string text(builtin->text);
  return Template(State::make(std::string(stem) + ".cu", std::move(text), std::move(options), {}, std::move(closure)));
}

std::vector<std::string> Template::builtin_names() {
  std::vector<std::string> names;
  for (const jit::BuiltinTemplate& file : jit::builtin_templates()) {
    names.emplace_back(file.name);
  }
  return names;
}

const std::string& Template::name() const noexcept { return state_->name; }
const std::string& Template::text() const noexcept { return state_->text; }
const std::vector<Parameter>& Template::parameters() const noexcept { return state_->parameters; }
const std::vector<std::string>& Template::entries() const noexcept { return state_->entries; }
const std::vector<std::string>& Template::options() const noexcept { return state_->options; }
const std::vector<Header>& Template::headers() const noexcept { return state_->headers; }
const std::vector<std::filesystem::path>& Template::header_files() const noexcept { return state_->header_files; }

Value Template::parse_value(std::string_view parameter, std::string_view text) const {
  const std::vector<Parameter>& all = state_->parameters;
  auto found = std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.name == parameter; });
  if (found == all.end()) {
    throw TemplateError(state_->name, std::string(parameter), jit::unknown_parameter(*this, parameter));
  }
  return jit::parse_value(*found, text, state_->name);
}

}  // namespace kiln
