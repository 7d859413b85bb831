# What Kiln's own targets are compiled with. Nothing of it reaches those who link Kiln.
add_library(kiln_compile_options INTERFACE)
target_compile_features(kiln_compile_options INTERFACE cxx_std_20)
target_compile_options(kiln_compile_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                      $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(KILN_WARNINGS_AS_ERRORS)
  target_compile_options(kiln_compile_options INTERFACE -Werror)
endif()
if(KILN_SANITIZE)
  target_compile_options(kiln_compile_options INTERFACE -fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer
                                                        -fno-sanitize-recover=all)
  target_link_options(kiln_compile_options INTERFACE -fsanitize=${KILN_SANITIZE})
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
