#include "emulation/tokens.hpp"

#include <cctype>
#include <string>

namespace kiln::emulation {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      step();
    }
    return std::move(tokens_);
  }

 private:
  void step() {
    const std::string_view rest = text_.substr(at_);
    const char c = rest[0];
    if (c == '\n') {
      end_line();
    } else if (rest.starts_with("\\\n")) {
      at_ += 2;
    } else if (is_blank(c)) {
      ++at_;
    } else if (rest.starts_with("//")) {
      skip_line_comment();
    } else if (rest.starts_with("/*")) {
      skip_past("*/", 2);
    } else if (rest.starts_with("R\"")) {
      skip_raw_string();
    } else if (c == '"' || c == '\'') {
      skip_literal(c);
    } else {
      take();
    }
  }

  void end_line() {
    ++at_;
    directive_ = 0;
    line_is_empty_ = true;
  }

  void take() {
    std::size_t end = at_ + 1;
    if (is_word(text_[at_])) {
      // A quote within a number separates its digits.
      const bool number = std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
      while (end < text_.size() && (is_word(text_[end]) || (number && text_[end] == '\''))) {
        ++end;
      }
    } else if (text_[at_] == '#' && line_is_empty_) {
      directive_ = ++directives_;
    }
    line_is_empty_ = false;
    tokens_.push_back({text_.substr(at_, end - at_), at_, directive_});
    at_ = end;
  }

  void skip_line_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      at_ += text_.substr(at_).starts_with("\\\n") ? 2 : 1;
    }
  }
  void skip_past(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, at_ + from);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }
  void skip_raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    skip_past(end, open - at_);
  }
  void skip_literal(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ < text_.size() && text_[at_] == quote) {
      ++at_;
    }
    line_is_empty_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t directives_ = 0;
  std::size_t directive_ = 0;
  bool line_is_empty_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Tokenizer(text).run(); }

}  // namespace kiln::emulation
