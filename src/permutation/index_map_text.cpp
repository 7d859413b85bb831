// Index maps as text: a JSON list of integers, or plain numbers. Made for lists of many millions.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/index_map.hpp"
#include "kiln/quote.hpp"
#include "kiln/text_file.hpp"

namespace kiln {

namespace {

constexpr std::size_t k_longest_quote = 40;
constexpr std::size_t k_longest_origin = 250;
// Room for the largest map, 2^32 sources of 11 characters.
constexpr std::uint64_t k_most_map_bytes = std::uint64_t{48} << 30;
constexpr std::uint32_t k_largest_source = std::numeric_limits<std::uint32_t>::max() - 1;

/// Walks over the text; keeps what an error needs to say.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view origin)
      : text_(text), origin_(origin), at_(text.data()), end_(text.data() + text.size()) {}

  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> list;
    list.reserve(text_.size() / 8);
    skip_blanks();
    if (take('[')) {
      json_list(list);
    } else {
      plain_list(list);
    }
    if (list.empty()) {
      throw Error(ErrorCode::invalid_argument, one_line(origin_, k_longest_origin) +
                                                   ": the index map is empty: it needs at least one "
                                                   "source position");
    }
    return list;
  }

  /// For an error about the number that stands at `position` of the list: its place is found again.
  [[noreturn]] void refuse_source(std::uint64_t position, std::uint64_t source_size) {
    at_ = text_.data();
    skip_blanks();
    take('[');
    skip_blanks();
    for (std::uint64_t index = 0; index < position; ++index) {
      number();
      skip_separator();
    }
    refuse("is out of range: sources must be below " + std::to_string(source_size));
  }

 private:
  void json_list(std::vector<std::uint32_t>& list) {
    skip_blanks();
    if (!take(']')) {
      do {
        skip_blanks();
        list.push_back(number());
        skip_blanks();
      } while (take(','));
      if (!take(']')) {
        refuse("does not go on with the list: expected ',' or ']'");
      }
    }
    skip_blanks();
    if (at_ != end_) {
      refuse("stands after the end of the list");
    }
  }

  void plain_list(std::vector<std::uint32_t>& list) {
    skip_blanks();
    for (bool more = at_ != end_; more; more = skip_separator()) {
      list.push_back(number());
    }
  }

  std::uint32_t number() {
    std::uint32_t value = 0;
    auto [stop, error] = std::from_chars(at_, end_, value);
    bool whole = stop == end_ || is_blank(*stop) || *stop == ',' || *stop == ']';
    if (error == std::errc() && whole && value <= k_largest_source) [[likely]] {
      at_ = stop;
      return value;
    }
    if (error == std::errc() ? whole : error == std::errc::result_out_of_range) {
      refuse("is too large: sources go up to " + std::to_string(k_largest_source));
    }
    std::string_view found = word();
    bool negative = found.size() > 1 && found.front() == '-' &&
                    std::all_of(found.begin() + 1, found.end(), [](char c) { return c >= '0' && c <= '9'; });
    refuse(negative ? "is negative: sources count from 0" : "is not an index: expected a whole number from 0");
  }

  static bool is_blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void skip_blanks() noexcept {
    while (at_ != end_ && is_blank(*at_)) {
      ++at_;
    }
  }
  /// Blanks, or one comma and the blanks around it: the last line may end in a comma as the others do. Whether the text
  /// goes on, which it can only with a number.
  bool skip_separator() noexcept {
    skip_blanks();
    take(',');
    skip_blanks();
    return at_ != end_;
  }
  bool take(char wanted) noexcept {
    bool found = at_ != end_ && *at_ == wanted;
    at_ += found ? 1 : 0;
    return found;
  }

  /// What stands here, up to the next blank or separator: at least one character unless the text has ended.
  std::string_view word() const noexcept {
    const char* stop = at_ == end_ ? at_ : at_ + 1;
    const bool is_comma = at_ != end_ && *at_ == ',';  // which is no part of what follows
    while (!is_comma && stop != end_ && !is_blank(*stop) && *stop != ',' && *stop != ']') {
      ++stop;
    }
    return {at_, static_cast<std::size_t>(stop - at_)};
  }

  [[noreturn]] void refuse(const std::string& why) const {
    auto line = 1 + std::count(text_.data(), at_, '\n');
    std::string quoted = at_ == end_ ? "the end of the text" : quote(word(), k_longest_quote);
    throw Error(ErrorCode::invalid_argument,
                one_line(origin_, k_longest_origin) + ":" + std::to_string(line) + ": " + quoted + " " + why);
  }

  std::string_view text_;
  std::string_view origin_;
  const char* at_;
  const char* end_;
};

}  // namespace

IndexMap IndexMap::parse(std::string_view text, std::string_view origin, std::uint64_t source_size) {
  Scanner scanner(text, origin);
  std::vector<std::uint32_t> sources = scanner.numbers();
  if (source_size == 0) {
    source_size = std::uint64_t{std::ranges::max(sources)} + 1;
  }
  auto outside = std::ranges::find_if(sources, [&](std::uint32_t source) { return source >= source_size; });
  if (outside != sources.end()) {
    scanner.refuse_source(static_cast<std::uint64_t>(outside - sources.begin()), source_size);
  }
  return IndexMap(std::span<const std::uint32_t>(sources), source_size);
}

IndexMap IndexMap::read(const std::filesystem::path& file, std::uint64_t source_size) {
  return parse(read_text_file(file, "index map", k_most_map_bytes), file.string(), source_size);
}

}  // namespace kiln
