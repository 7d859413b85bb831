#include "kiln/target.hpp"

#include <charconv>

#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln {

namespace {

constexpr std::string_view k_cubin_prefix = "sm_";
constexpr std::string_view k_ptx_prefix = "compute_";
// 1.0 was the first architecture.
constexpr int k_lowest = 10;
constexpr int k_highest = 999;

[[noreturn]] void refuse(std::string_view text) {
  throw Error(ErrorCode::unsupported_target, "target " + quote(text) +
                                                 " is not understood: use native, sm_NN, sm_NNa, sm_NNf "
                                                 "(a cubin) or compute_NN (PTX), for example sm_90a");
}

}  // namespace

Target Target::cubin(int capability, char suffix) {
  if (capability < k_lowest || capability > k_highest || (suffix != '\0' && suffix != 'a' && suffix != 'f')) {
    refuse(std::string(k_cubin_prefix) + std::to_string(capability) + (suffix == '\0' ? "" : std::string(1, suffix)));
  }
  Target target;
  target.kind_ = Kind::cubin;
  target.capability_ = capability;
  target.suffix_ = suffix;
  return target;
}

Target Target::ptx(int capability, char suffix) {
  Target target = cubin(capability, suffix);
  target.kind_ = Kind::ptx;
  return target;
}

Target Target::parse(std::string_view text) {
  if (text == "native") {
    return native();
  }
  std::string_view rest = text;
  bool is_cubin = rest.starts_with(k_cubin_prefix);
  if (!is_cubin && !rest.starts_with(k_ptx_prefix)) {
    refuse(text);
  }
  rest.remove_prefix(is_cubin ? k_cubin_prefix.size() : k_ptx_prefix.size());
  int capability = 0;
  const char* end = rest.data() + rest.size();
  auto [stop, error] = std::from_chars(rest.data(), end, capability);
  // A leading zero would give one target two names.
  if (error != std::errc() || rest.front() == '0' || capability < k_lowest || capability > k_highest) {
    refuse(text);
  }
  std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  if (suffix.size() > 1 || (suffix.size() == 1 && suffix != "a" && suffix != "f")) {
    refuse(text);
  }
  char letter = suffix.empty() ? '\0' : suffix.front();
  return is_cubin ? cubin(capability, letter) : ptx(capability, letter);
}

std::string Target::text() const {
  if (is_native()) {
    return "native";
  }
  std::string text(kind_ == Kind::cubin ? k_cubin_prefix : k_ptx_prefix);
  text += std::to_string(capability_);
  if (suffix_ != '\0') {
    text += suffix_;
  }
  return text;
}

}  // namespace kiln
