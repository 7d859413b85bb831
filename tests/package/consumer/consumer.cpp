// Uses the C++ and the C API without a compiler, a driver or a cache, and catches what the library throws.
#include <cstdio>
#include <cstring>
#include <kiln/kiln.hpp>
#include <vector>

extern "C" const char* version_from_c(void);

namespace {

int unused_conversion(long wide) { return wide; }  // warns, and fails the build, under Kiln's own options

bool errors_cross_the_border(const kiln::Service& service) {
  const auto tmpl = kiln::Template::from_text("a.cu", "// kiln: parameter n: u8\n// kiln: entry a\n");
  try {
    service.find(tmpl, {{"n", 256}}, kiln::Target::parse("sm_90"));
  } catch (const kiln::TemplateError& error) {  // one type identity on both sides
    return error.parameter() == "n";
  }
  return false;
}

}  // namespace

int main() {
  kiln::ServiceOptions options;
  const kiln::Service service(options);
  const kiln::Permutation map(std::vector<std::int64_t>{2, 0, 1});
  const bool good = std::strcmp(version_from_c(), "0.1.0") == 0 && map.inverse()[0] == 1 &&
                    errors_cross_the_border(service) && service.stats().misses == 0 && unused_conversion(3) == 3;
  std::puts(good ? "consumer: fine" : "consumer: wrong");
  return good ? 0 : 1;
}
