#include "emulation/shared_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "emulation/tokens.hpp"

namespace kiln::emulation {
namespace {

struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string_view text;  // in place of [begin, end)
};

bool ends_declaration(const Token& token) { return token.text == ";" || token.text == "{" || token.text == "}"; }

/// The declaration that token `at` is part of: from behind the last `;` or brace, within one directive if it is in one.
std::pair<std::size_t, std::size_t> declaration_around(const std::vector<Token>& tokens, std::size_t at) {
  const auto same = [&](std::size_t i) {
    return tokens[i].directive == tokens[at].directive && !ends_declaration(tokens[i]);
  };
  std::size_t begin = at;
  while (begin > 0 && same(begin - 1)) {
    --begin;
  }
  std::size_t end = at;
  while (end < tokens.size() && same(end)) {
    ++end;
  }
  return {begin, end};
}

using Place = std::vector<Token>::const_iterator;

/// What stands before a declaration's first array bracket, or last in it: its name. The brackets of attributes,
/// `[[…]]`, are none. `last` when nothing does.
Place name_in(Place first, Place last) {
  Place name = last;
  int attribute = 0;  // brackets of one that are open
  for (Place token = first; token != last; ++token) {
    const bool opens = token->text == "[";
    if (opens && (attribute > 0 || (token + 1 != last && (token + 1)->text == "["))) {
      ++attribute;
    } else if (attribute > 0) {
      attribute -= token->text == "]" ? 1 : 0;
    } else if (opens) {
      return name;
    } else {
      name = token;
    }
  }
  return name;
}

void edit_declaration(const std::vector<Token>& tokens, std::size_t begin, std::size_t end, std::vector<Edit>& edits) {
  const Place first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
  const Place last = tokens.begin() + static_cast<std::ptrdiff_t>(end);
  const auto is = [](std::string_view word) { return [word](const Token& token) { return token.text == word; }; };
  const bool dynamic = std::any_of(first, last, is("extern"));
  for (auto token = first; token != last; ++token) {
    if (token->text == "static" || (dynamic && (token->text == "__shared__" || token->text == "extern"))) {
      edits.push_back({token->begin, token->end(), ""});
    }
  }
  if (const Place name = dynamic ? name_in(first, last) : last; name != last) {
    edits.push_back({name->begin, name->begin, "(&"});
    edits.push_back({name->end(), name->end(), ")"});
    edits.push_back({(last - 1)->end(), (last - 1)->end(), " = ::kiln_emulation::DynamicShared{}"});
  }
}

}  // namespace

std::string prepare_shared_memory(std::string_view text) {
  if (text.find("__shared__") == std::string_view::npos) {
    return std::string(text);
  }
  const std::vector<Token> tokens = tokenize(text);
  std::vector<Edit> edits;
  std::size_t done = 0;  // tokens of declarations that have been edited
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text == "__shared__" && i >= done) {
      const auto [begin, end] = declaration_around(tokens, i);
      edit_declaration(tokens, begin, end, edits);
      done = end;
    }
  }
  std::string result;
  std::size_t copied = 0;
  for (const Edit& edit : edits) {
    result.append(text.substr(copied, edit.begin - copied)).append(edit.text);
    copied = edit.end;
  }
  return result.append(text.substr(copied));
}

}  // namespace kiln::emulation
