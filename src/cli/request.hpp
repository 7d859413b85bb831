#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common.hpp"
#include "cli/json_line.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/index_map.hpp"
#include "kiln/permuter.hpp"

namespace kiln::cli {

/// What `permute` and `explain permute` ask for.
struct PermuteArguments {
  std::string indices;
  std::optional<std::uint64_t> rows;
  std::string dtype = "f32";
  std::optional<std::uint64_t> inner;
  std::optional<std::uint64_t> source_size;
  std::string strategy = "automatic";
  std::optional<std::uint64_t> row_stride_in;
  std::optional<std::uint64_t> row_stride_out;
  bool in_place = false;
  std::string to_dtype;
  std::string ending;
  std::vector<std::string> lists;
  std::vector<std::string> targets;
};

void add_permute_arguments(Syntax& syntax, PermuteArguments& arguments);
/// A list that is wrong is a UsageError; a file's content is not.
IndexMap read_map(const PermuteArguments& arguments);
PermuteShape read_shape(const PermuteArguments& arguments);
/// Throws UsageError for a shape that no kernel can have, since its rows are too long, or too long for one another, or
/// the strategy cannot move the map, and for more rows than a launch can move.
PermuteRequest plan(const IndexMap& map, const PermuteShape& shape, const Target& target);

/// Numbers as JSON has them, or as words between blanks, commas or new lines, as 1,2,3. Where one is missing between
/// commas it stays so, to be refused.
std::string normalised_list(std::string_view text);

/// The file that a value is to be read from; empty where it is written out.
std::string file_given(const Parameter& parameter, std::string_view text);
/// A value as options give it: written out, or, of a list or a snippet, as @FILE. `option` is "-D table", for errors.
/// What is written out and does not fit is a UsageError; what a file holds is an Error that names the file.
Value read_given(const Parameter& parameter, std::string_view text, const std::string& option);
/// Runs `make`, whose Error means that what `option` gives does not fit; `file` is where it was read from, if anywhere.
template <typename Make>
auto as_given(const std::string& option, const std::string& file, Make make) {
  try {
    return make();
  } catch (const Error& error) {
    const std::string problem = option + ": " + error.what();
    if (file.empty()) {
      throw UsageError(problem);
    }
    throw Error(error.code(), quote_path(file) + ": " + problem);
  }
}

/// What `compile` and `explain compile` ask for.
struct CompileArguments {
  std::string file;
  std::vector<std::string> definitions;
  std::vector<std::string> include_dirs;
  std::vector<std::string> entries;
  std::vector<std::string> options;
  std::vector<std::string> targets;
};

void add_compile_arguments(Syntax& syntax, CompileArguments& arguments);
Template read_template(const CompileArguments& arguments);
/// The values given with -D, read as the template declares them and checked: a name that is unknown or missing, and a
/// value that does not fit, are UsageErrors (what a file holds is not), as are compiler options that Kiln keeps for
/// itself.
Values read_values(const Template& tmpl, const std::vector<std::string>& definitions);

/// The fields that `permute`, `compile` and `explain` print for each target.
Json to_json(const Lookup& found, const Key& key, const Target& target);
/// The same in words: "sm_90a  compiled in 23.1 ms  cubin  5.1 KiB  12 registers  …".
std::string to_line(const Lookup& found, const Target& target);

}  // namespace kiln::cli
