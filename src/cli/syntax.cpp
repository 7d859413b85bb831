#include "cli/syntax.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "kiln/quote.hpp"

namespace kiln::cli {

namespace {

/// Empty text is refused: it is nearly always an unset shell variable, and would mean the default (`--cache ""`, say).
CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? std::string("it is empty: give a value") : std::string(); },
          ""};
}

/// What is wrong with a path. An option in its place means that the value was forgotten, or was an empty variable.
std::string problem_of_path(const std::string& text, std::string_view problem_of_dash) {
  if (text == "-") {
    return problem_of_dash.empty() ? "" : std::string(problem_of_dash) + "; a file of that name is written ./-";
  }
  return text.starts_with('-')
             ? "its value is missing before " + quote(text) + "; a file of that name is written with ./ before it"
             : "";
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
                       const std::string& help, std::uint64_t least, std::uint64_t most) {
  // CLI11's own conversion takes -1 for 2^64 - 1.
  std::string range = most == std::numeric_limits<std::uint64_t>::max()
                          ? "of at least " + std::to_string(least)
                          : "from " + std::to_string(least) + " to " + std::to_string(most);
  auto read = [&value, name, least, most, range](const std::string& text) {
    std::uint64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
      throw CLI::ValidationError(name, "an integer " + range + " is wanted, not " + quote(text));
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
  app_->add_option(name, values, help)->type_name(type)->check(not_empty())->allow_extra_args(false);
  return *this;
}

Syntax& Syntax::rest(const std::string& name, std::vector<std::string>& values, const std::string& type,
                     const std::string& help) {
  app_->add_option(name, values, help)->type_name(type)->check(not_empty())->required();
  return *this;
}

Syntax& Syntax::check(const std::string& name, std::function<void(const std::string&)> parse) {
  auto problem = [parse = std::move(parse)](std::string& text) {
    try {
      parse(text);
      return std::string();
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  app_->get_option(name)->check(CLI::Validator(problem, ""));
  return *this;
}

Syntax& Syntax::path(const std::string& name) {
  auto problem = [](std::string& text) { return problem_of_path(text, "standard input is not read: name a file"); };
  app_->get_option(name)->check(CLI::Validator(problem, ""));
  return *this;
}

Syntax& Syntax::output(const std::string& name) {
  auto problem = [](std::string& text) { return problem_of_path(text, ""); };
  app_->get_option(name)->check(CLI::Validator(problem, ""));
  return *this;
}

Syntax& Syntax::pack(const std::string& name) {
  auto problem = [](std::string& text) {
    return problem_of_path(text, "a pack is a database, which is not for standard output: name a file");
  };
  app_->get_option(name)->check(CLI::Validator(problem, ""));
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
