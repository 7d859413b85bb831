# System packages only; nothing is downloaded. These are needed to build Kiln, not to link it.
include(KilnLinkDependencies)
find_package(nlohmann_json 3.9 REQUIRED)
if(KILN_BUILD_CLI)
  find_package(CLI11 2.1 REQUIRED)
endif()
