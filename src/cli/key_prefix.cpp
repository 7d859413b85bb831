#include "cli/key_prefix.hpp"

#include "cli/exit_code.hpp"
#include "kiln/quote.hpp"

namespace kiln::cli {

void check_key_prefix(const std::string& text) {
  constexpr std::size_t k_digits = 32;
  if (text.empty() || text.size() > k_digits || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw UsageError(
        quote(text) +
        " does not begin a key: give the first of its 32 lower-case hex digits, as `kiln query` lists them");
  }
}

}  // namespace kiln::cli
