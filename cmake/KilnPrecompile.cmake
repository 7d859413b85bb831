# kiln_precompile(TARGET HEADERS…): precompiles headers for TARGET, and for those that reuse them from it.
function(kiln_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # With a time inside, no two are the same for ccache.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# More than half of the time that most of the library's files take to compile goes to these. Not where the library is
# built for others, nor by g++: there each file has to include what it uses.
option(KILN_PRECOMPILE_HEADERS "Precompile the standard headers that the library uses" OFF)
set(KILN_STANDARD_HEADERS <algorithm> <array> <charconv> <chrono> <filesystem> <functional> <map> <memory> <mutex> <optional>
    <span> <string> <string_view> <variant> <vector>)
