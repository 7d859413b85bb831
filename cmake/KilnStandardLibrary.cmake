# kiln_standard_library(RESULT): what the C++ compiler uses with the flags of CMAKE_CXX_FLAGS: libc++, libstdc++, or
# nothing where it can't be told. Kiln is asked when it is built, its users when they find it.
include(CheckCXXSourceCompiles)

function(kiln_standard_library result)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # compiles, and links nothing
  set(CMAKE_REQUIRED_QUIET ON)
  set(${result} "" PARENT_SCOPE)
  foreach(candidate libc++=_LIBCPP_VERSION libstdc++=__GLIBCXX__)
    string(REPLACE "=" ";" candidate ${candidate})
    list(GET candidate 0 library)
    list(GET candidate 1 macro)
    unset(KILN_USES_${macro} CACHE)  # the flags may have changed
    check_cxx_source_compiles("#include <cstddef>\n#ifndef ${macro}\n#error another\n#endif\n" KILN_USES_${macro})
    if(KILN_USES_${macro})
      set(${result} ${library} PARENT_SCOPE)
    endif()
    unset(KILN_USES_${macro} CACHE)
  endforeach()
endfunction()
