#include <algorithm>
#include <sstream>

#include "cli/request.hpp"
#include "kiln/quote.hpp"
#include "kiln/service.hpp"
#include "kiln/text_file.hpp"
#include "kiln/value_text.hpp"

namespace kiln::cli {

namespace {

std::string names_of(const Template& tmpl) {
  std::string names;
  for (const Parameter& parameter : tmpl.parameters()) {
    names += (names.empty() ? "it has " : ", ") + parameter.name;
  }
  return names.empty() ? "it has none" : names;
}

Value read_value(const Template& tmpl, const Parameter& parameter, std::string text) {
  bool from_file = text.starts_with('@') && (parameter.is_list || parameter.type == ParameterType::code);
  if (from_file) {
    text = read_text_file(text.substr(1), "the value of parameter " + parameter.name + " from");
  }
  if (from_file && parameter.is_list) {
    text = normalised_list(std::move(text));
  }
  return as_usage([&] { return parse_value(parameter, text, tmpl.name()); });
}

}  // namespace

std::string normalised_list(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '[' || c == ']' || c == ',' || c == '{' || c == '}'; }, ' ');
  std::istringstream stream(text);
  std::string list;
  for (std::string word; stream >> word;) {
    list += (list.empty() ? "" : ",") + word;
  }
  return list;
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
    values.set(name, read_value(tmpl, *parameter, definition.substr(equals + 1)));
  }
  // Whatever the target is, the values and the options are right or wrong; nothing is opened to tell.
  as_usage([&] { return Service(ServiceOptions{}).key_of(tmpl, values, Target::parse("sm_90")); });
  return values;
}

}  // namespace kiln::cli
