# The system libraries that libkiln links, as kiln_dep::NAME. Installed with the package: those who link the static
# library need them too. Nothing is downloaded.
find_package(Threads REQUIRED GLOBAL)
find_package(PkgConfig REQUIRED)

# kiln_find_library(NAME MODULE): the imported target kiln_dep::NAME for a pkg-config module, static on request.
function(kiln_find_library name module)
  if(TARGET kiln_dep::${name})
    return()
  endif()
  pkg_check_modules(kiln_${name} REQUIRED QUIET ${module})
  if(KILN_STATIC_DEPENDENCIES)
    set(file lib${name}.a)
  else()
    set(file ${name})
  endif()
  find_library(KILN_${name}_LIBRARY ${file} HINTS ${kiln_${name}_LIBRARY_DIRS} REQUIRED)
  add_library(kiln_dep::${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(kiln_dep::${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kiln_${name}_INCLUDE_DIRS}"
                                                     INTERFACE_LINK_LIBRARIES "${KILN_${name}_LIBRARY}")
endfunction()

kiln_find_library(sqlite3 sqlite3)
kiln_find_library(xxhash libxxhash)
kiln_find_library(zstd libzstd)
if(KILN_STATIC_DEPENDENCIES)
  target_link_libraries(kiln_dep::sqlite3 INTERFACE m ${CMAKE_DL_LIBS})
endif()
