#include "kiln/service_options.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "core/environment.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln {

namespace {

using core::environment;

[[noreturn]] void refuse(const char* name, std::string_view value, const char* allowed) {
  throw Error(ErrorCode::invalid_argument, std::string(name) + "=" + quote(value) + " cannot be used: " + allowed);
}

std::uint64_t read_size(const char* name, std::string_view text) {
  std::optional<std::uint64_t> size = parse_size(text);
  if (!size) {
    refuse(name, text,
           "give a number of bytes, or one with K, M, G or T (powers of 1024), for example 512M; 0 for no cap");
  }
  return *size;
}

CacheMode read_mode(const char* name, std::string_view text) {
  if (text == "rw") {
    return CacheMode::read_write;
  }
  if (text == "ro") {
    return CacheMode::read_only;
  }
  if (text == "off") {
    return CacheMode::off;
  }
  refuse(name, text, "give rw, ro or off");
}

bool read_switch(const char* name, std::string_view text) {
  if (text == "1" || text == "true" || text == "on" || text == "yes") {
    return true;
  }
  if (text == "0" || text == "false" || text == "off" || text == "no") {
    return false;
  }
  refuse(name, text, "give 1 or 0");
}

std::vector<std::filesystem::path> read_paths(std::string_view text) {
  std::vector<std::filesystem::path> paths;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(':'), text.size());
    if (end > 0) {
      paths.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return paths;
}

std::optional<std::filesystem::path> default_directory() {
  if (auto directory = environment("KILN_CACHE_DIR")) {
    return *directory;
  }
  // The XDG specification has relative paths ignored.
  if (auto cache = environment("XDG_CACHE_HOME"); cache && cache->starts_with('/')) {
    return std::filesystem::path(*cache) / "kiln";
  }
  if (auto home = environment("HOME"); home && home->starts_with('/')) {
    return std::filesystem::path(*home) / ".cache" / "kiln";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  int shift = 0;
  if (!unit.empty()) {
    std::size_t position = std::string_view("KMGT").find(unit.front());
    if (position == std::string_view::npos || (unit.size() > 1 && unit.substr(1) != "B" && unit.substr(1) != "iB")) {
      return std::nullopt;
    }
    shift = 10 * (static_cast<int>(position) + 1);
  }
  if (number > (UINT64_MAX >> shift)) {
    return std::nullopt;
  }
  return number << shift;
}

ServiceOptions ServiceOptions::from_environment() {
  ServiceOptions options;
  options.cache_dir = default_directory();
  if (auto size = environment("KILN_CACHE_MAX_SIZE")) {
    options.max_bytes = read_size("KILN_CACHE_MAX_SIZE", *size);
  }
  if (auto mode = environment("KILN_CACHE_MODE")) {
    options.cache_mode = read_mode("KILN_CACHE_MODE", *mode);
  }
  if (auto packs = environment("KILN_PACKS")) {
    options.packs = read_paths(*packs);
  }
  if (auto strict = environment("KILN_STRICT")) {
    options.strict = read_switch("KILN_STRICT", *strict);
  }
  if (auto nvrtc = environment("KILN_NVRTC")) {
    options.nvrtc = *nvrtc;
  }
  if (auto record = environment("KILN_RECORD")) {
    options.record = *record;
  }
  return options;
}

}  // namespace kiln
