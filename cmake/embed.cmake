# cmake -DOUTPUT=FILE -DTEMPLATES_DIR=DIR -P embed.cmake: writes a C++ file with the files of DIR/files.cmake as strings, and
# which headers each template can reach.
cmake_minimum_required(VERSION 3.25)
include(${TEMPLATES_DIR}/files.cmake)

# As hex escapes, so that no byte of a text means anything to C++ or to CMake.
function(embed_text variable path)
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
  set(${variable} "std::string_view(${body}, ${bytes})" PARENT_SCOPE)
endfunction()

# The headers that a file can reach, added to a list. All that Kiln's own files include is written out.
function(add_reached variable path)
  set(reached ${${variable}})
  file(STRINGS ${path} lines REGEX "^ *# *include +\"kiln/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*\"kiln/(.*)\".*" "\\1" name "${line}")
    if(name IN_LIST KILN_TEMPLATE_HEADERS AND NOT name IN_LIST reached)
      list(APPEND reached ${name})
      add_reached(reached ${TEMPLATES_DIR}/kiln/${name})
    endif()
  endforeach()
  set(${variable} "${reached}" PARENT_SCOPE)
endfunction()

list(SORT KILN_TEMPLATES)
list(SORT KILN_TEMPLATE_HEADERS)
set(headers "")
foreach(name IN LISTS KILN_TEMPLATE_HEADERS)
  embed_text(text ${TEMPLATES_DIR}/kiln/${name})
  string(APPEND headers "    {\"kiln/${name}\", ${text}},\n")
endforeach()
set(reachable "")
set(templates "")
foreach(name IN LISTS KILN_TEMPLATES)
  set(reached "")
  add_reached(reached ${TEMPLATES_DIR}/${name}.cu)
  list(SORT reached)
  set(numbers "")
  foreach(header IN LISTS reached)
    list(FIND KILN_TEMPLATE_HEADERS ${header} number)
    list(APPEND numbers ${number})
  endforeach()
  list(JOIN numbers ", " numbers)
  string(APPEND reachable "constexpr auto k_reached_by_${name} = std::to_array<std::size_t>({${numbers}});\n")
  embed_text(text ${TEMPLATES_DIR}/${name}.cu)
  string(APPEND templates "    {\"${name}\", ${text}, k_reached_by_${name}},\n")
endforeach()
file(
  WRITE ${OUTPUT}
  "// Generated from templates/ by cmake/embed.cmake.
#include \"jit/builtin.hpp\"

#include <array>

namespace kiln::jit {

namespace {

constexpr auto k_headers = std::to_array<BuiltinHeader>({
${headers}});

${reachable}
constexpr auto k_templates = std::to_array<BuiltinTemplate>({
${templates}});

}  // namespace

std::span<const BuiltinTemplate> builtin_templates() noexcept { return k_templates; }
std::span<const BuiltinHeader> builtin_headers() noexcept { return k_headers; }

}  // namespace kiln::jit
")
