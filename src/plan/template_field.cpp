#include "plan/template_field.hpp"

#include "jit/options.hpp"

namespace kiln::plan {

namespace {

TemplateOptions read_options(const Field& field, const std::filesystem::path& folder) {
  TemplateOptions options;
  if (auto dirs = field.find("include_dirs")) {
    for (const std::string& dir : dirs->texts()) {
      options.include_dirs.push_back(folder / dir);
    }
  }
  if (auto headers = field.find("headers")) {
    for (const auto& [name, text] : headers->members()) {
      options.headers.emplace(name, text.text());
    }
  }
  if (auto compile_options = field.find("options")) {
    options.options = compile_options->texts();
    at(*compile_options, [&] { jit::check_options(options.options); });
  }
  if (auto entries = field.find("entries")) {
    options.entries = entries->texts();
    if (options.entries.empty()) {
      entries->fail(
          "the list is empty: at least one kernel is wanted, or no \"entries\" for those the template declares");
    }
  }
  return options;
}

}  // namespace

Template read_template(const Field& field, const std::filesystem::path& folder) {
  if (field.is_text()) {
    return at(field, [&] { return Template::from_file(folder / field.text()); });
  }
  field.allow({"file", "builtin", "name", "text", "include_dirs", "headers", "options", "entries"});
  TemplateOptions options = read_options(field, folder);
  std::optional<Field> file = field.find("file");
  std::optional<Field> builtin = field.find("builtin");
  std::optional<Field> text = field.find("text");
  if (int{file.has_value()} + int{builtin.has_value()} + int{text.has_value()} != 1) {
    field.fail("exactly one of \"file\", \"builtin\" and \"text\" is wanted");
  }
  if (text) {
    return at(*text, [&] { return Template::from_text(field.need("name").text(), text->text(), options); });
  }
  if (std::optional<Field> name = field.find("name")) {
    name->fail("only a template given as \"text\" is named here");
  }
  if (builtin) {
    return at(*builtin, [&] { return Template::builtin(builtin->text(), options); });
  }
  return at(*file, [&] { return Template::from_file(folder / file->text(), options); });
}

}  // namespace kiln::plan
