#include "cli/request.hpp"
#include "kiln/dtype.hpp"

namespace kiln::cli {

void add_permute_arguments(CLI::App& command, PermuteArguments& arguments) {
  std::string names;
  for (const Dtype& dtype : dtypes()) {
    names += (names.empty() ? "" : " ") + std::string(dtype.name);
  }
  command
      .add_option("--indices", arguments.indices,
                  "The map: output position j takes source LIST[j]. A list such as 2,1,0, or a file with one")
      ->type_name("FILE|LIST")
      ->required();
  command.add_option("--dtype", arguments.dtype, "Element type (" + names + ")")->type_name("T")->capture_default_str();
  command.add_option("--inner", arguments.inner, "Elements that move together, at least 1")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--source-size", arguments.source_size, "Source positions; default: the largest index + 1")
      ->type_name("N");
  command
      .add_option_function<std::uint64_t>(
          "--rows",
          [&arguments](const std::uint64_t& rows) {
            arguments.rows = rows;
            arguments.rows_given = true;
          },
          "Rows of one launch: chooses the kernel, and how many rows are verified. Default: the kernel for many rows, "
          "verified with 1024 rows or what makes a million elements")
      ->type_name("B");
  add_targets(command, arguments.targets);
}

IndexMap read_map(const PermuteArguments& arguments) {
  // What can only be a list is one; ./36 is a file.
  bool is_list = arguments.indices.find_first_not_of("0123456789-+,[] \t\n") == std::string::npos;
  return is_list ? IndexMap::parse(arguments.indices, "--indices", arguments.source_size)
                 : IndexMap::read(arguments.indices, arguments.source_size);
}

PermuteShape read_shape(const PermuteArguments& arguments) {
  PermuteShape shape;
  shape.element_bytes = as_usage([&] { return dtype_bytes(arguments.dtype); });
  shape.inner = arguments.inner;
  shape.typical_rows = arguments.rows;
  return shape;
}

}  // namespace kiln::cli
