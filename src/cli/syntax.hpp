#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kiln::cli {

/// Declares the arguments of a command. What it is given references to must live until the command line is parsed.
/// Names are as typed, "-D" or "--target"; one without a dash is a position. `type` is shown in the help.
class Syntax {
 public:
  explicit Syntax(CLI::App& app) : app_(&app) {}

  Syntax& flag(const std::string& name, bool& value, const std::string& help);
  Syntax& text(const std::string& name, std::string& value, const std::string& type, const std::string& help);
  Syntax& required(const std::string& name, std::string& value, const std::string& type, const std::string& help);
  Syntax& number(const std::string& name, std::optional<std::uint64_t>& value, const std::string& type,
                 const std::string& help, std::uint64_t least = 0);
  /// One of `choices`.
  Syntax& choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                 const std::string& help);
  /// Any number of times, one value each time.
  Syntax& repeated(const std::string& name, std::vector<std::string>& values, const std::string& type,
                   const std::string& help);
  /// All remaining positions, at least one.
  Syntax& rest(const std::string& name, std::vector<std::string>& values, const std::string& type,
               const std::string& help);
  /// At most one of these flags.
  Syntax& exclusive(std::initializer_list<const char*> names);

 private:
  CLI::App* app_;
};

}  // namespace kiln::cli
