# cmake -DOUTPUT=FILE -DTEMPLATES_DIR=DIR -P embed.cmake: writes a C++ file with the files of DIR/files.cmake as strings.
include(${TEMPLATES_DIR}/files.cmake)

# As hex escapes, so that no byte of a text means anything to C++ or to CMake.
function(embed_file variable name path)
  file(READ ${path} hex HEX)
  string(LENGTH "${hex}" length)
  set(body "")
  set(from 0)
  while(from LESS length)
    string(SUBSTRING "${hex}" ${from} 64 part)
    string(REGEX REPLACE "(..)" "\\\\x\\1" part "${part}")
    string(APPEND body "\n    \"${part}\"")
    math(EXPR from "${from} + 64")
  endwhile()
  math(EXPR bytes "${length} / 2")
  set(${variable} "    {\"${name}\", std::string_view(${body}, ${bytes})},\n" PARENT_SCOPE)
endfunction()

function(embed_table variable prefix suffix folder)
  set(rows "")
  set(sorted ${ARGN})
  list(SORT sorted)
  foreach(file IN LISTS sorted)
    embed_file(row "${prefix}${file}" ${TEMPLATES_DIR}/${folder}${file}${suffix})
    string(APPEND rows "${row}")
  endforeach()
  set(${variable} "${rows}" PARENT_SCOPE)
endfunction()

embed_table(templates "" ".cu" "" ${KILN_TEMPLATES})
embed_table(headers "kiln/" "" "kiln/" ${KILN_TEMPLATE_HEADERS})
file(
  WRITE ${OUTPUT}
  "// Generated from templates/ by cmake/embed.cmake.
#include \"jit/builtin.hpp\"

#include <array>

namespace kiln::jit {

namespace {

constexpr auto k_templates = std::to_array<BuiltinFile>({
${templates}});

constexpr auto k_headers = std::to_array<BuiltinFile>({
${headers}});

}  // namespace

std::span<const BuiltinFile> builtin_templates() noexcept { return k_templates; }
std::span<const BuiltinFile> builtin_headers() noexcept { return k_headers; }

}  // namespace kiln::jit
")
