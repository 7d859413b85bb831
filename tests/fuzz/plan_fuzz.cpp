// Any bytes as a plan file: read, or refused with an error that says where.
#include <cstdint>
#include <string_view>

#include "kiln/error.hpp"
#include "kiln/plan.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kiln::test::TempDir directory;
  const auto file = directory / "plan.json";
  kiln::test::write_file(file, {reinterpret_cast<const char*>(data), size});
  try {
    kiln::Plan::read(file, {kiln::Target::cubin(90)});
  } catch (const kiln::Error&) {
  }
  return 0;
}
