#include "cli/request.hpp"
#include "kiln/dtype.hpp"

namespace kiln::cli {

void add_permute_arguments(Syntax& syntax, PermuteArguments& arguments) {
  std::string names;
  for (const Dtype& dtype : dtypes()) {
    names += (names.empty() ? "" : " ") + std::string(dtype.name);
  }
  syntax
      .required("--indices", arguments.indices, "FILE|LIST",
                "The map: output position j takes source LIST[j]. A list such as 2,1,0, or a file with one")
      .text("--dtype", arguments.dtype, "T", "Element type: " + names)
      .number("--inner", arguments.inner, "N", "Elements that move together; default: 1", 1)
      .number("--source-size", arguments.source_size, "N", "Source positions; default: the largest index + 1", 1)
      .number(
          "--rows", arguments.rows, "B",
          "Rows of one launch: decides the kernel, and how many rows are verified. Default: a kernel for many rows, "
          "verified with 1024, or what makes a million elements");
  add_targets(syntax, arguments.targets);
}

IndexMap read_map(const PermuteArguments& arguments) {
  std::uint64_t source_size = arguments.source_size.value_or(0);
  // What can only be a list is one; ./36 is a file.
  bool is_list = arguments.indices.find_first_not_of("0123456789-+,[] \t\n") == std::string::npos;
  return is_list ? IndexMap::parse(arguments.indices, "--indices", source_size)
                 : IndexMap::read(arguments.indices, source_size);
}

PermuteShape read_shape(const PermuteArguments& arguments) {
  PermuteShape shape;
  shape.element_bytes = as_usage([&] { return dtype_bytes(arguments.dtype); });
  shape.inner = arguments.inner.value_or(1);
  shape.typical_rows = arguments.rows.value_or(0);
  return shape;
}

}  // namespace kiln::cli
