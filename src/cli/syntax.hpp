#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kiln::cli {

/// Declares the arguments of a command, and with them what no value of theirs may be: that is always exit code 2, told
/// with the argument's name, before anything is done. What it is given references to must live until the command line
/// is parsed. Names are as typed, "-D" or "--target"; one without a dash is a position. `type` is shown in the help. No
/// value may be empty.
class Syntax {
 public:
  explicit Syntax(CLI::App& app) : app_(&app) {}

  Syntax& flag(const std::string& name, bool& value, const std::string& help);
  Syntax& text(const std::string& name, std::string& value, const std::string& type, const std::string& help);
  Syntax& required(const std::string& name, std::string& value, const std::string& type, const std::string& help);
  /// From `least` to `most`.
  Syntax& number(const std::string& name, std::optional<std::uint64_t>& value, const std::string& type,
                 const std::string& help, std::uint64_t least = 0,
                 std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
  /// One of `choices`.
  Syntax& choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                 const std::string& help);
  /// Any number of times, one value each time.
  Syntax& repeated(const std::string& name, std::vector<std::string>& values, const std::string& type,
                   const std::string& help);
  /// All remaining positions, at least one.
  Syntax& rest(const std::string& name, std::vector<std::string>& values, const std::string& type,
               const std::string& help);
  /// What `parse` throws for a value is what is wrong with it.
  Syntax& check(const std::string& name, std::function<void(const std::string&)> parse);
  /// The values are paths: "-", and what looks like an option, is refused; such a file is written "./-".
  Syntax& path(const std::string& name);
  /// A file to write; "-" is standard output.
  Syntax& output(const std::string& name);
  /// A pack to write: a database, which is never for standard output.
  Syntax& pack(const std::string& name);
  /// At most one of these flags.
  Syntax& exclusive(std::initializer_list<const char*> names);

 private:
  CLI::App* app_;
};

}  // namespace kiln::cli
