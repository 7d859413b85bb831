#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>

#include "cli/request.hpp"
#include "kiln/dtype.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/quote.hpp"
#include "kiln/value_text.hpp"

namespace kiln::cli {

namespace {

/// As PermuteKernel takes.
constexpr std::uint64_t k_most_rows = std::uint64_t{1} << 40;
constexpr std::uint64_t k_most_launched_bytes = std::uint64_t{1} << 60;
/// Of a row.
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 48;
constexpr std::uint64_t k_most_positions = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view k_forms = "a list is written 2,1,0 or [2, 1, 0], all else is the name of a file";

}  // namespace

void add_permute_arguments(Syntax& syntax, PermuteArguments& arguments) {
  std::string names;
  for (const Dtype& dtype : dtypes()) {
    names += (names.empty() ? "" : " ") + std::string(dtype.name);
  }
  syntax
      .required("--indices", arguments.indices, "FILE|LIST",
                "The map: output position j takes source LIST[j]. A list such as 2,1,0, or a file with one")
      .text("--dtype", arguments.dtype, "T", "Element type: " + names)
      .number("--inner", arguments.inner, "N", "Elements that move together; default: 1", 1, k_most_bytes)
      .number("--source-size", arguments.source_size, "N", "Source positions; default: the largest index + 1", 1,
              k_most_positions)
      .number(
          "--rows", arguments.rows, "B",
          "Rows of one launch: decides the kernel, and how many rows are verified. Default: a kernel for many rows, "
          "verified with 1024, or what makes a million elements",
          0, k_most_rows)
      .text("--strategy", arguments.strategy, "S",
            "Instead of the choice: direct, staged, tiled, bucketed, rows or elements. One that cannot move the map is "
            "refused")
      .check("--strategy", parse_strategy)
      .number("--row-stride-in", arguments.row_stride_in, "N",
              "Elements from a row of the input to the next; 0 and default: rows are dense", 0, k_most_bytes)
      .number("--row-stride-out", arguments.row_stride_out, "N",
              "Elements from a row of the output to the next; 0 and default: rows are dense", 0, k_most_bytes)
      .flag("--in-place", arguments.in_place, "Permute every row where it is: the output is the input")
      .text("--to-dtype", arguments.to_dtype, "T",
            "Element type of the output, to which elements are converted; default: --dtype")
      .text("--ending", arguments.ending, "EXPR",
            "What each element becomes on its way: a CUDA C++ expression over value, position and the lists")
      .repeated("--list", arguments.lists, "NAME=LIST",
                "A list of numbers for --ending, such as scale=1,0.5,2 or scale=@FILE; may be repeated")
      .check("--to-dtype", dtype_bytes)
      .check("--dtype", dtype_bytes);
  add_targets(syntax, arguments.targets);
}

IndexMap read_map(const PermuteArguments& arguments) {
  std::uint64_t source_size = arguments.source_size.value_or(0);
  const std::string& text = arguments.indices;
  // What can only be a list is one; ./36 is a file.
  bool is_list = text.find_first_not_of("0123456789-+,[] \t\n") == std::string::npos;
  bool has_separators = text.find_first_of(",[ \t\n") != std::string::npos;
  if (!is_list) {
    using Type = std::filesystem::file_type;
    std::error_code ignored;  // a long list cannot be the name of a file, and is no error yet
    Type type = std::filesystem::status(text, ignored).type();
    if (type == Type::not_found && !has_separators) {
      throw Error(ErrorCode::file_unreadable,
                  "--indices: there is no file " + quote(text) + ": " + std::string(k_forms));
    }
    if (type != Type::not_found && (type != Type::none || !has_separators)) {
      return IndexMap::read(text, source_size);
    }
  }
  try {
    return IndexMap::parse(text, "--indices", source_size);
  } catch (const Error& error) {
    throw UsageError(std::string(error.what()) + "; " + std::string(k_forms));
  }
}

namespace {

/// "NAME=1,2,3" or "NAME=@FILE".
std::pair<std::string, std::vector<float>> read_list(const std::string& definition) {
  const std::size_t equals = definition.find('=');
  if (equals == std::string::npos) {
    throw UsageError("--list: " + quote(definition) + " has no value: write NAME=1,2,3 or NAME=@FILE");
  }
  Parameter parameter;
  parameter.name = definition.substr(0, equals);
  parameter.type = ParameterType::f32;
  parameter.is_list = true;
  const std::string_view text = std::string_view(definition).substr(equals + 1);
  const std::string option = "--list " + parameter.name;
  const Value value = read_given(parameter, text, option);
  const auto& numbers = std::get<std::vector<double>>(value.storage());
  const std::string file = file_given(parameter, text);
  if (!file.empty() && numbers.empty()) {
    throw Error(ErrorCode::file_unreadable, quote_path(file) + " has no numbers for " + option);
  }
  std::vector<float> list;
  as_given(option, file, [&] { std::ranges::transform(numbers, std::back_inserter(list), to_f32); });
  return {parameter.name, std::move(list)};
}

}  // namespace

PermuteShape read_shape(const PermuteArguments& arguments) {
  PermuteShape shape;
  shape.element_bytes = dtype_bytes(arguments.dtype);
  shape.inner = arguments.inner.value_or(1);
  shape.typical_rows = arguments.rows.value_or(0);
  shape.strategy = parse_strategy(arguments.strategy);
  shape.row_stride_in = arguments.row_stride_in.value_or(0);
  shape.row_stride_out = arguments.row_stride_out.value_or(0);
  shape.in_place = arguments.in_place;
  const bool converts = !arguments.to_dtype.empty() && arguments.to_dtype != arguments.dtype;
  if (converts || !arguments.ending.empty() || !arguments.lists.empty()) {
    PermuteEnding ending{.from = arguments.dtype,
                         .to = arguments.to_dtype.empty() ? arguments.dtype : arguments.to_dtype,
                         .expression = arguments.ending};
    for (const std::string& list : arguments.lists) {
      if (auto [name, numbers] = read_list(list); !ending.lists.emplace(name, std::move(numbers)).second) {
        throw UsageError("--list: " + quote(name) + " is given twice");
      }
    }
    shape.ending = std::move(ending);
  }
  return shape;
}

PermuteRequest plan(const IndexMap& map, const PermuteShape& shape, const Target& target) {
  PermuteRequest request = as_usage([&] { return plan_permute(map, shape, target); });
  // A row of what can be planned has at most 2^48 bytes.
  std::uint64_t row_bytes = std::max(map.size(), map.source_size()) * shape.inner * shape.element_bytes;
  if (shape.typical_rows > k_most_launched_bytes / row_bytes) {
    throw UsageError("--rows " + std::to_string(shape.typical_rows) + ": one launch moves at most " +
                     std::to_string(k_most_launched_bytes / row_bytes) + " rows of " + std::to_string(row_bytes) +
                     " bytes; give fewer");
  }
  return request;
}

}  // namespace kiln::cli
