#include "cli/human.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "cli/exit_code.hpp"
#include "kiln/quote.hpp"
#include "kiln/service_options.hpp"

namespace kiln::cli {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

std::string one_decimal(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

/// A whole number followed by the name of a unit, in units of 1.
std::uint64_t parse_with_unit(const std::string& text, std::span<const Unit> units, const std::string& wanted) {
  std::uint64_t number = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc()) {
    std::string_view name(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    for (const Unit& unit : units) {
      if (unit.name == name && number <= std::numeric_limits<std::int64_t>::max() / unit.size) {
        return number * unit.size;
      }
    }
  }
  throw UsageError(quote(text) + " is not " + wanted);
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> k_names{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < k_names.size(); ++unit) {
    value /= 1024.0;
  }
  return one_decimal(value) + " " + k_names[unit];
}

std::string human_ms(double milliseconds) {
  if (milliseconds >= 1000.0) {
    return one_decimal(milliseconds / 1000.0) + " s";
  }
  return one_decimal(milliseconds) + " ms";
}

std::string human_count(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string human_date(std::int64_t seconds_since_epoch) {
  std::chrono::sys_seconds time{std::chrono::seconds(seconds_since_epoch)};
  std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text.data();
}

std::uint64_t parse_bytes(const std::string& text) {
  std::optional<std::uint64_t> size = parse_size(text);
  if (!size) {
    throw UsageError(quote(text) + " is not a size: write bytes, or a number with K, M, G or T, for example 512M");
  }
  return *size;
}

std::int64_t parse_duration(const std::string& text) {
  constexpr std::array k_units{Unit{"s", 1}, Unit{"m", 60}, Unit{"h", 3600}, Unit{"d", 86400}, Unit{"w", 604800}};
  return static_cast<std::int64_t>(
      parse_with_unit(text, k_units, "a duration: write a number with s, m, h, d or w, for example 30d"));
}

}  // namespace kiln::cli
