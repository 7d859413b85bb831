#include "jit/include_scanner.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace kiln::jit {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

/// Walks over a text once, from directive to directive.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Scan run() {
    while (at_ < text_.size()) {
      bool is_digraph = peek() == '%' && peek(1) == ':';
      if (starts_line_ && (text_[at_] == '#' || is_digraph)) {
        at_ += is_digraph ? 2 : 1;
        directive();
      } else {
        step();
      }
    }
    return std::move(scan_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  /// A backslash before a line's end joins the lines: skips it. True if one was skipped.
  bool skip_continuation() {
    if (peek() != '\\') {
      return false;
    }
    std::size_t length = peek(1) == '\n' ? 2 : (peek(1) == '\r' && peek(2) == '\n' ? 3 : 0);
    if (length == 0) {
      return false;
    }
    at_ += length;
    ++line_;
    return true;
  }

  /// Skips a comment at the current place. True if there was one.
  bool skip_comment() {
    if (peek() != '/') {
      return false;
    }
    if (peek(1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') {
        if (!skip_continuation()) {
          ++at_;
        }
      }
      return true;
    }
    if (peek(1) != '*') {
      return false;
    }
    std::size_t close = text_.find("*/", at_ + 2);
    std::size_t end = close == std::string_view::npos ? text_.size() : close + 2;
    count_lines(end);
    return true;
  }

  void count_lines(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  /// A string or character literal, up to its end or the line's.
  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (skip_continuation()) {
        continue;
      }
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, text_.size());
    if (peek() == quote) {
      ++at_;
    }
  }

  /// At the '"' of R"delimiter( … )delimiter".
  void skip_raw_string() {
    std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    std::size_t end = text_.find(close, open);
    count_lines(end == std::string_view::npos ? text_.size() : end + close.size());
  }

  /// The '"' at the current place opens a raw string: it follows R, LR, uR, UR or u8R that is a word by itself.
  bool opens_raw_string() const {
    if (at_ == 0 || text_[at_ - 1] != 'R') {
      return false;
    }
    std::size_t start = at_;
    while (start > 0 && is_word(text_[start - 1])) {
      --start;
    }
    std::string_view prefix = text_.substr(start, at_ - start);
    return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
  }

  /// One token of ordinary code, or a blank.
  void step() {
    char c = text_[at_];
    if (c == '\n') {
      ++at_;
      ++line_;
      starts_line_ = true;
      return;
    }
    if (is_blank(c)) {
      ++at_;
      return;
    }
    if (skip_continuation() || skip_comment()) {
      return;
    }
    starts_line_ = false;
    if (c == '"') {
      opens_raw_string() ? skip_raw_string() : skip_quoted('"');
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number();
    } else if (c == '\'') {
      skip_quoted('\'');
    } else {
      ++at_;
    }
  }

  /// Numbers may hold digit separators, which are no quotes: 1'000.
  void number() {
    while (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(peek(1)))) {
      ++at_;
    }
  }

  /// Blanks, comments and continuations within one directive.
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        return;
      } else if (!skip_continuation() && !skip_comment()) {
        return;
      }
    }
  }

  std::string_view word() {
    std::size_t begin = at_;
    while (is_word(peek())) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  /// A header name at the current place; its text is empty if none is there.
  HeaderName header_name() {
    char open = peek();
    if (open != '"' && open != '<') {
      return {};
    }
    std::size_t close = text_.find_first_of(open == '"' ? "\"\n" : ">\n", at_ + 1);
    if (close == std::string_view::npos || text_[close] == '\n') {
      return {};
    }
    HeaderName header{text_.substr(at_ + 1, close - at_ - 1), open == '"'};
    at_ = close + 1;
    return header;
  }

  void directive() {
    starts_line_ = false;
    skip_blanks();
    std::size_t begin = at_;
    std::string_view name = word();
    std::size_t first_mention = scan_.mentions.size();
    std::size_t first_definition = scan_.definitions.size();
    if (is_broken_word()) {
      add_unclear(begin);
    } else if (name == "include" || name == "include_next") {
      include(begin, name == "include_next");
    } else if (name == "define") {
      define();
    } else if (name == "if" || name == "elif") {
      condition();
    }
    finish_directive();
    // Views that reach to the directive's end, which is known now.
    for (std::size_t i = first_mention; i < scan_.mentions.size(); ++i) {
      extend(scan_.mentions[i].whole);
    }
    for (std::size_t i = first_definition; i < scan_.definitions.size(); ++i) {
      extend(scan_.definitions[i].body);
    }
  }

  /// `begun` views nothing yet, from where the text that is meant begins.
  void extend(std::string_view& begun) const {
    if (begun.data() != nullptr) {
      begun = text_.substr(static_cast<std::size_t>(begun.data() - text_.data()));
      begun.remove_suffix(text_.size() - at_);
    }
  }

  /// A line's end within a word: the compiler joins its halves, this scanner does not.
  bool is_broken_word() const {
    std::size_t next = peek() != '\\' ? 0 : peek(1) == '\n' ? 2 : peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
    return next != 0 && at_ > 0 && is_word(text_[at_ - 1]) && (is_word(peek(next)) || peek(next) == '\\');
  }

  void add_unclear(std::size_t begin) {
    scan_.mentions.push_back({Mention::Kind::unclear, {}, {}, {}, begin, at_, line_});
  }

  void finish_directive() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      step();
    }
  }

  void include(std::size_t begin, bool is_next) {
    skip_blanks();
    Mention mention{is_next ? Mention::Kind::include_next : Mention::Kind::include, {}, {}, {}, begin, at_, line_};
    mention.header = header_name();
    if (mention.header.text.empty()) {
      mention.kind = Mention::Kind::macro;
      mention.whole = text_.substr(at_, 0);
      mention.header.text = word();
      if (is_broken_word()) {
        add_unclear(begin);
        return;
      }
      skip_blanks();
      if (peek() == '(') {
        std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::size_t close = text_.substr(0, end).rfind(')');
        if (close != std::string_view::npos && close > at_) {
          mention.arguments = text_.substr(at_ + 1, close - at_ - 1);
          at_ = close + 1;
        }
      }
      if (mention.header.text.empty()) {
        add_unclear(begin);
        return;
      }
    }
    mention.end = at_;
    scan_.mentions.push_back(mention);
  }

  void define() {
    skip_blanks();
    HeaderMacro macro;
    macro.name = word();
    if (is_broken_word()) {
      add_unclear(at_);
      return;
    }
    if (peek() == '(') {
      std::size_t close = text_.find(')', at_);
      std::size_t body = close == std::string_view::npos ? at_ : close + 1;
      scan_.definitions.push_back({macro.name, text_.substr(body, 0), text_.substr(at_, body - at_)});
      condition();
      return;
    }
    scan_.definitions.push_back({macro.name, text_.substr(at_, 0), {}});
    skip_blanks();
    macro.begin = at_;
    macro.header = header_name();
    if (macro.header.text.empty()) {
      macro.alias = word();
    }
    macro.end = at_;
    skip_blanks();
    bool is_whole = at_ >= text_.size() || text_[at_] == '\n' || peek() == '/';
    if (is_whole && macro.begin != macro.end) {
      scan_.macros.push_back(macro);
    } else {
      at_ = macro.begin;
      condition();
    }
  }

  /// What follows #if, #elif or a macro's name: __has_include, and header names among any macro's arguments.
  void condition() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      skip_blanks();
      std::size_t begin = at_;
      std::string_view name = word();
      if (name.empty()) {
        if (at_ < text_.size() && text_[at_] != '\n') {
          step();
        }
        continue;
      }
      bool is_test = name == "__has_include" || name == "__has_include__";
      skip_blanks();
      if (peek() != '(') {
        continue;
      }
      ++at_;
      skip_blanks();
      std::size_t argument = at_;
      HeaderName header = header_name();
      if (header.text.empty()) {
        if (is_test) {
          scan_.mentions.push_back(
              {Mention::Kind::macro_test, {word(), false}, {}, text_.substr(argument, 0), begin, at_, line_});
        }
        continue;
      }
      skip_blanks();
      if (is_test && peek() == ')') {
        ++at_;
      }
      scan_.mentions.push_back(
          {is_test ? Mention::Kind::has_include : Mention::Kind::argument, header, {}, {}, begin, at_, line_});
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool starts_line_ = true;
  Scan scan_;
};

}  // namespace

Scan scan_includes(std::string_view text) { return Scanner(text).run(); }

}  // namespace kiln::jit
