#include <algorithm>
#include <map>
#include <string_view>

#include "cli/request.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/quote.hpp"
#include "kiln/service.hpp"
#include "kiln/text_file.hpp"
#include "kiln/value_text.hpp"

namespace kiln::cli {

namespace {

constexpr std::string_view k_blanks = " \t\r\n\v\f";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(k_blanks), text.size()));
  return text.substr(0, text.find_last_not_of(k_blanks) + 1);
}

std::string names_of(const Template& tmpl) {
  std::string names;
  for (const Parameter& parameter : tmpl.parameters()) {
    names += (names.empty() ? "it has " : ", ") + parameter.name;
  }
  return names.empty() ? "it has none" : names;
}

bool may_be_file(const Parameter& parameter) { return parameter.is_list || parameter.type == ParameterType::code; }

}  // namespace

std::string normalised_list(std::string_view text) {
  text = trimmed(text);
  const bool is_bracketed =
      text.size() >= 2 && ((text.front() == '[' && text.back() == ']') || (text.front() == '{' && text.back() == '}'));
  if (is_bracketed) {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  std::string list;
  bool after_blank = false;
  for (char c : text) {
    const bool is_blank = k_blanks.find(c) != std::string_view::npos;
    if (!is_blank) {
      list += after_blank && c != ',' && list.back() != ',' ? "," : "";
      list += c;
    }
    after_blank = is_blank;
  }
  if (!is_bracketed && list.ends_with(',')) {
    list.pop_back();  // the last line ends as the others do
  }
  return list;
}

std::string file_given(const Parameter& parameter, std::string_view text) {
  return may_be_file(parameter) && text.starts_with('@') ? std::string(text.substr(1)) : std::string();
}

Value read_given(const Parameter& parameter, std::string_view text, const std::string& option) {
  if (may_be_file(parameter) && text == "@") {
    throw UsageError(option + ": " + quote(parameter.name + "=@") + " names no file: write " + parameter.name +
                     "=@FILE");
  }
  const std::string file = file_given(parameter, text);
  const std::string given =
      file.empty() ? std::string(text) : read_text_file(file, "the value of " + parameter.name + " from");
  const bool is_characters = file.empty() && parameter.type == ParameterType::character;  // ' ' is one
  return as_given(option, file, [&] {
    return parse_value(parameter, parameter.is_list && !is_characters ? normalised_list(given) : given);
  });
}

void add_compile_arguments(Syntax& syntax, CompileArguments& arguments) {
  syntax.required("template", arguments.file, "TEMPLATE.cu", "A CUDA C++ file with declared parameters")
      .repeated("-D", arguments.definitions, "NAME=VALUE",
                "Value of a parameter, read as its declared type: 36, 0x1p-3, inf, nan, true, float, 1,2,3; lists and "
                "code also as @FILE; may be repeated")
      .repeated("-I", arguments.include_dirs, "DIR", "Folder to find included headers in; may be repeated")
      .repeated("--entry", arguments.entries, "NAME",
                "Kernel as a C++ name expression, instead of those the template declares; may be repeated")
      .repeated("--option", arguments.options, "O",
                "Further NVRTC option, as --option=--use_fast_math; may be repeated")
      .path("template")
      .path("-I");
  add_targets(syntax, arguments.targets);
}

Template read_template(const CompileArguments& arguments) {
  TemplateOptions options;
  options.include_dirs.assign(arguments.include_dirs.begin(), arguments.include_dirs.end());
  options.entries = arguments.entries;
  options.options = arguments.options;
  return Template::from_file(arguments.file, options);
}

Values read_values(const Template& tmpl, const std::vector<std::string>& definitions) {
  Values values;
  std::map<std::string, std::string> files;  // that values were read from
  for (const std::string& definition : definitions) {
    std::size_t equals = definition.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError("-D " + quote(definition) + ": NAME=VALUE is wanted, for example -D n=36");
    }
    std::string name = definition.substr(0, equals);
    auto parameter = std::ranges::find(tmpl.parameters(), name, &Parameter::name);
    if (parameter == tmpl.parameters().end()) {
      throw UsageError("-D " + quote(name) + ": template " + tmpl.name() + " has no such parameter; " + names_of(tmpl));
    }
    if (values.find(name) != nullptr) {
      throw UsageError("-D " + name + " is given twice");
    }
    const std::string_view text = std::string_view(definition).substr(equals + 1);
    values.set(name, read_given(*parameter, text, "-D " + name));
    files[name] = file_given(*parameter, text);
  }
  // Whatever the target is, the values and the options are right or wrong; nothing is opened to tell.
  try {
    (void)Service(ServiceOptions{}).key_of(tmpl, values, Target::parse("sm_90"));
  } catch (const TemplateError& error) {
    const std::string& file = files[error.parameter()];
    if (file.empty()) {
      throw UsageError(error.what());
    }
    throw Error(error.code(), quote_path(file) + ": " + error.what());
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return values;
}

}  // namespace kiln::cli
