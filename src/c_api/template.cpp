#include <cstddef>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "c_api/handles.hpp"

using kiln::c_api::created;
using kiln::c_api::required_path;
using kiln::c_api::required_text;

namespace {

template <typename Text>
std::vector<Text> texts(const char* const* list, std::size_t count, const char* name) {
  std::vector<Text> result;
  for (std::size_t i = 0; i < count; ++i) {
    kiln::c_api::required(list, name);
    if constexpr (std::is_same_v<Text, std::filesystem::path>) {
      result.emplace_back(required_path(list[i], name));
    } else {
      result.emplace_back(required_text(list[i], name));
    }
  }
  return result;
}

kiln::TemplateOptions options_of(const kiln_template_options* given) {
  kiln::TemplateOptions options;
  if (given != nullptr) {
    const auto known = kiln::c_api::read_struct(given, "options");
    options.include_dirs = texts<std::filesystem::path>(known.include_dirs, known.include_dir_count, "include_dirs");
    options.options = texts<std::string>(known.options, known.option_count, "options");
    options.entries = texts<std::string>(known.entries, known.entry_count, "entries");
  }
  return options;
}

}  // namespace

kiln_status kiln_template_from_file(const char* path, const kiln_template_options* options, kiln_template** out,
                                    kiln_error** error) {
  return created(out, error,
                 [&] { return kiln::Template::from_file(required_path(path, "path"), options_of(options)); });
}

kiln_status kiln_template_from_text(const char* name, const char* text, const kiln_template_options* options,
                                    kiln_template** out, kiln_error** error) {
  return created(out, error, [&] {
    return kiln::Template::from_text(required_text(name, "name"), required_text(text, "text"), options_of(options));
  });
}

kiln_status kiln_template_builtin(const char* name, const kiln_template_options* options, kiln_template** out,
                                  kiln_error** error) {
  return created(out, error, [&] { return kiln::Template::builtin(required_text(name, "name"), options_of(options)); });
}

void kiln_template_free(kiln_template* tmpl) { delete tmpl; }
