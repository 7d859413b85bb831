#include "cli/syntax.hpp"

#include <CLI/CLI.hpp>
#include <limits>

namespace kiln::cli {

Syntax& Syntax::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
  return *this;
}

Syntax& Syntax::text(const std::string& name, std::string& value, const std::string& type, const std::string& help) {
  app_->add_option(name, value, help)->type_name(type)->capture_default_str();
  return *this;
}

Syntax& Syntax::required(const std::string& name, std::string& value, const std::string& type,
                         const std::string& help) {
  app_->add_option(name, value, help)->type_name(type)->required();
  return *this;
}

Syntax& Syntax::number(const std::string& name, std::optional<std::uint64_t>& value, const std::string& type,
                       const std::string& help, std::uint64_t least) {
  app_->add_option_function<std::uint64_t>(
          name, [&value](const std::uint64_t& given) { value = given; }, help)
      ->type_name(type)
      ->check(CLI::Range(least, std::numeric_limits<std::uint64_t>::max()));
  return *this;
}

Syntax& Syntax::choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                       const std::string& help) {
  app_->add_option(name, value, help)->check(CLI::IsMember(choices))->capture_default_str();
  return *this;
}

Syntax& Syntax::repeated(const std::string& name, std::vector<std::string>& values, const std::string& type,
                         const std::string& help) {
  app_->add_option(name, values, help)->type_name(type)->allow_extra_args(false);
  return *this;
}

Syntax& Syntax::rest(const std::string& name, std::vector<std::string>& values, const std::string& type,
                     const std::string& help) {
  app_->add_option(name, values, help)->type_name(type)->required();
  return *this;
}

Syntax& Syntax::exclusive(std::initializer_list<const char*> names) {
  for (const char* one : names) {
    for (const char* other : names) {
      if (one != other) {
        app_->get_option(one)->excludes(app_->get_option(other));
      }
    }
  }
  return *this;
}

}  // namespace kiln::cli
