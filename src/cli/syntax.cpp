#include "cli/syntax.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <system_error>

namespace kiln::cli {

namespace {

/// Empty text is refused: it is nearly always an unset shell variable, and would mean the default (`--cache ""`, say).
CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? std::string("it is empty: give a value") : std::string(); },
          ""};
}

}  // namespace

Syntax& Syntax::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
  return *this;
}

Syntax& Syntax::text(const std::string& name, std::string& value, const std::string& type, const std::string& help) {
  app_->add_option(name, value, help)->type_name(type)->check(not_empty())->capture_default_str();
  return *this;
}

Syntax& Syntax::required(const std::string& name, std::string& value, const std::string& type,
                         const std::string& help) {
  app_->add_option(name, value, help)->type_name(type)->check(not_empty())->required();
  return *this;
}

Syntax& Syntax::number(const std::string& name, std::optional<std::uint64_t>& value, const std::string& type,
                       const std::string& help, std::uint64_t least) {
  // CLI11's own conversion takes -1 for 2^64 - 1.
  auto read = [&value, name, least](const std::string& text) {
    std::uint64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least) {
      throw CLI::ValidationError(name, "an integer of at least " + std::to_string(least) + " is wanted, not " + text);
    }
    value = number;
  };
  app_->add_option_function<std::string>(name, read, help)->type_name(type);
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
  app_->add_option(name, values, help)->type_name(type)->check(not_empty())->required();
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
