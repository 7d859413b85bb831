# kiln_add_tests(NAME LABEL unit|nvrtc|emulated|gpu [THREADED] [OPTIMIZED] SOURCES … LIBRARIES …): one GoogleTest program,
# every test of it known to CTest under its label. A test that skips is reported as skipped, never as passed. The target
# kiln_LABEL_programs builds all programs of a label. With the thread sanitizer those only are tests that are THREADED: the
# tests of what threads share. OPTIMIZED: the tests themselves calculate much.
if(NOT KILN_BUILD_TESTS)
  return()
endif()

# Half of the time that a test takes to compile would go to optimising what runs once.
set(KILN_TEST_COMPILE_OPTIONS -O0 -g1)

# Debian's GoogleTest binaries are built for libstdc++: whatever the standard library here is, build it from source.
set(KILN_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH "GoogleTest's sources")
if(NOT TARGET gtest)
  if(EXISTS ${KILN_GOOGLETEST_SOURCE}/CMakeLists.txt)
    set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
    set(CMAKE_SUPPRESS_DEVELOPER_WARNINGS ON CACHE BOOL "" FORCE)
    add_subdirectory(${KILN_GOOGLETEST_SOURCE} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
    foreach(library gtest gmock gtest_main gmock_main)
      target_compile_options(${library} PRIVATE -O0 -g1)
      if(KILN_SANITIZE)
        target_compile_options(${library} PRIVATE -fsanitize=${KILN_SANITIZE})
      endif()
    endforeach()
  else()
    find_package(GTest REQUIRED)
    add_library(gmock_main ALIAS GTest::gmock_main)
  endif()
endif()
include(GoogleTest)

# Half of the time that a test takes to compile goes to the same headers.
file(CONFIGURE OUTPUT test_headers.cpp CONTENT "")
add_executable(kiln_test_headers EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(kiln_test_headers PRIVATE kiln_compile_options gmock_main)
target_compile_options(kiln_test_headers PRIVATE ${KILN_TEST_COMPILE_OPTIONS})
kiln_precompile(
  kiln_test_headers <gmock/gmock.h> <gtest/gtest.h> <algorithm> <array> <chrono> <filesystem> <fstream> <functional>
  <map> <memory> <mutex> <numeric> <optional> <random> <string> <string_view> <thread> <vector>)

set(KILN_TEST_THREADS_ONLY OFF)
if(KILN_SANITIZE STREQUAL "thread")
  set(KILN_TEST_THREADS_ONLY ON)
endif()

foreach(label unit nvrtc emulated fuzz gpu)
  add_custom_target(kiln_${label}_programs)
endforeach()

function(kiln_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "THREADED;OPTIMIZED" "LABEL;TIMEOUT" "SOURCES;LIBRARIES;ENVIRONMENT")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE kiln_compile_options ${arg_LIBRARIES} gmock_main)
  target_compile_definitions(${name} PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             KILN_TEST_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(KILN_SANITIZE)
    target_compile_definitions(${name} PRIVATE KILN_SANITIZED)
  endif()
  if(arg_OPTIMIZED AND CMAKE_CXX_COMPILER_ID MATCHES Clang)  # g++ 12 at -O1 warns of what std::string's + does
    target_compile_options(${name} PRIVATE -O1 -g1)  # what was precompiled is of no use then
  else()
    target_compile_options(${name} PRIVATE ${KILN_TEST_COMPILE_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM kiln_test_headers)
  endif()
  if(KILN_TEST_THREADS_ONLY AND NOT arg_THREADED)
    return()
  endif()
  add_dependencies(kiln_${arg_LABEL}_programs ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  gtest_discover_tests(
    ${name}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]"
               ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
