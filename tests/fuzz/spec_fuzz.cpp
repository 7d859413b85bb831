// Specs come from databases: any text is either taken apart whole, or not at all.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cache/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view spec(reinterpret_cast<const char*>(data), size);
  const auto fields = kiln::cache::parse_spec(spec);
  const char* at = spec.data();
  for (const auto& field : fields) {
    // Views into the spec, in order, that do not overlap: two specs with the same fields are the same.
    if (field.label.data() < at || field.content.data() < field.label.data() + field.label.size()) {
      std::abort();
    }
    at = field.content.data() + field.content.size();
  }
  if (at > spec.data() + spec.size()) {
    std::abort();
  }
  return 0;
}
