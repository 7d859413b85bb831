#include "jit/headers.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include "jit/builtin.hpp"
#include "jit/computed_include.hpp"
#include "jit/include_scanner.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"
#include "kiln/text_file.hpp"

namespace kiln::jit {

namespace {

namespace fs = std::filesystem;

/// A file of the closed world. The main file is number 0.
struct File {
  std::string name;  ///< unique
  std::string text;
  fs::path folder;      ///< empty for files in memory
  std::size_t dir = 0;  ///< number of the include directory it was found through, 0 when through none
  Scan scan;
};

struct Replacement {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

using FileId = std::size_t;
constexpr std::string_view k_values_header = "kiln/values.h";
constexpr std::string_view k_code_prefix = "kiln/code/";

bool is_generated(std::string_view name) { return name == k_values_header || name.starts_with(k_code_prefix); }

std::string joined_name(std::string_view includer, std::string_view name) {
  return (fs::path(includer).parent_path() / name).lexically_normal().generic_string();
}

std::string spelled(std::string_view name, bool is_quoted) {
  return (is_quoted ? '"' : '<') + std::string(name) + (is_quoted ? '"' : '>');
}

class Finder {
 public:
  Finder(std::string_view template_name, const HeaderSearch& search) : template_name_(template_name), search_(search) {}

  Closure run(std::string text) {
    add_file({std::string(template_name_), std::move(text), search_.beside, 0, {}});
    if (search_.takes_code) {
      for (const auto& [name, header] : search_.memory) {
        add_virtual(name, header);
      }
    }
    collect_option_macros();
    // Macros can be defined after, and in other files than, the directive that uses them: go round until nothing new
    // comes.
    std::size_t known_files = 0;
    std::size_t known_macros = 0;
    while (known_files != files_.size() || known_macros != macros_.size()) {
      known_files = files_.size();
      known_macros = macros_.size();
      follow_mentions();
      follow_macros();
    }
    check_computed_names();
    return finish();
  }

 private:
  struct KnownMacro {
    FileId file;  ///< k_option for a -D
    HeaderMacro macro;
  };
  static constexpr FileId k_option = ~FileId{0};

  FileId add_file(File file) {
    check_text(file);
    FileId id = files_.size();
    std::string wanted = file.name;
    // A file may lie where the names of generated headers lead: "values.h" beside "kiln/own.h".
    for (int copy = 2; is_generated(file.name) || !names_.try_emplace(file.name, id).second; ++copy) {
      file.name = std::to_string(copy) + "/" + wanted;
    }
    files_.push_back(std::move(file));
    replacements_.emplace_back();
    // The text is not moved any more: a deque keeps its elements in place.
    files_[id].scan = scan_includes(files_[id].text);
    for (const HeaderMacro& macro : files_[id].scan.macros) {
      macros_.emplace(macro.name, KnownMacro{id, macro});
    }
    return id;
  }

  void check_text(const File& file) const {
    if (file.text.find('\0') != std::string::npos) {
      throw TemplateError(std::string(template_name_), {},
                          "the text of " + quote(file.name) + " holds a NUL character, which ends a source");
    }
    constexpr std::string_view k_old[]{"c++14", "c++11", "c++03"};
    bool has_trigraphs = file.text.find("\?\?=") != std::string::npos || file.text.find("\?\?/") != std::string::npos;
    bool is_old = std::any_of(search_.options.begin(), search_.options.end(), [&](std::string_view option) {
      return std::any_of(std::begin(k_old), std::end(k_old), [&](auto standard) { return option.ends_with(standard); });
    });
    if (has_trigraphs && is_old) {
      throw TemplateError(std::string(template_name_), {},
                          quote(file.name) +
                              " has a trigraph (\?\?= or \?\?/), which can hide an #include: write the "
                              "character itself, or compile as C++17");
    }
  }

  std::optional<FileId> add_virtual(const std::string& name, std::string_view text) {
    auto [known, is_new] = virtual_files_.try_emplace(name, files_.size());
    if (is_new) {
      known->second = add_file({name, std::string(text), {}, 0, {}});
    }
    return known->second;
  }

  std::optional<FileId> find_virtual(const std::string& name) {
    if (auto found = search_.memory.find(name); found != search_.memory.end()) {
      return add_virtual(name, found->second);
    }
    if (std::optional<std::string_view> text = builtin_header(name)) {
      return add_virtual(name, *text);
    }
    return std::nullopt;
  }

  /// The file at `path`, known by `name` if it is new.
  std::optional<FileId> find_on_disk(const fs::path& path, const std::string& name, std::size_t dir) {
    auto [known, is_new] = paths_.try_emplace(path.native(), std::nullopt);
    if (!is_new) {
      return known->second;
    }
    looked_for_.insert(path);
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
      return std::nullopt;
    }
    // One file under two paths is one header, or #pragma once would not hold.
    std::pair identity(static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino));
    if (auto same = inodes_.find(identity); same != inodes_.end()) {
      return paths_[path.native()] = same->second;
    }
    FileId id = add_file({name, read_text_file(path, "header"), path.parent_path(), dir, {}});
    inodes_.emplace(identity, id);
    return paths_[path.native()] = id;
  }

  std::optional<FileId> find_in_dirs(const std::string& name, std::size_t first) {
    for (std::size_t dir = first; dir < search_.include_dirs.size(); ++dir) {
      if (auto found = find_on_disk(search_.include_dirs[dir] / name, name, dir + 1)) {
        return found;
      }
    }
    return std::nullopt;
  }

  std::optional<FileId> resolve(FileId includer, const HeaderName& header, bool is_next) {
    std::string name(header.text);
    if (fs::path(name).is_absolute()) {
      return find_on_disk(name, fs::path(name).filename().string(), 0);
    }
    const File& from = files_[includer];
    if (is_next) {
      return find_in_dirs(name, from.dir);
    }
    if (header.is_quoted) {
      // What main includes keeps the name main gives it; deeper ones are named from there.
      std::string beside = includer == 0 ? name : joined_name(from.name, name);
      if (auto found = find_virtual(beside)) {
        return found;
      }
      if (!from.folder.empty()) {
        if (auto found = find_on_disk(from.folder / name, beside, from.dir)) {
          return found;
        }
      }
    }
    if (auto found = find_virtual(name)) {
      return found;
    }
    return find_in_dirs(name, 0);
  }

  void follow_mentions() {
    for (; followed_ < files_.size(); ++followed_) {
      for (const Mention& mention : files_[followed_].scan.mentions) {
        follow(followed_, mention);
      }
    }
  }

  void follow(FileId includer, const Mention& mention) {
    switch (mention.kind) {
      case Mention::Kind::include:
      case Mention::Kind::include_next:
        include(includer, mention);
        return;
      case Mention::Kind::has_include: {
        bool exists = is_generated(mention.header.text) || exists_for(includer, mention.header);
        replacements_[includer].push_back({mention.begin, mention.end, exists ? "1" : "0"});
        return;
      }
      case Mention::Kind::argument:
        if (auto found = resolve(includer, mention.header, false)) {
          make_reachable_as(mention.header, *found, {});
        }
        return;
      case Mention::Kind::macro:
        macro_mentions_.emplace_back(includer, mention);
        return;
      case Mention::Kind::macro_test:
        macro_tests_.emplace_back(includer, mention);
        return;
      case Mention::Kind::unclear:
        refuse(includer, mention, "cannot be understood");
    }
  }

  [[noreturn]] void refuse(FileId file, const Mention& mention, const std::string& problem) const {
    throw TemplateError(std::string(template_name_), {},
                        one_line(files_[file].name) + ":" + std::to_string(mention.line) + ": this #include " +
                            problem +
                            ": write the header's name into it, or the name of a macro that is that name, on one line");
  }

  /// Now that every macro is known.
  void check_computed_names() const {
    Definitions definitions;
    for (const File& file : files_) {
      for (const MacroDefinition& macro : file.scan.definitions) {
        definitions.emplace(macro.name, macro);
      }
    }
    for (const MacroDefinition& macro : option_scan_.definitions) {
      definitions.emplace(macro.name, macro);
    }
    for (const auto* mentions : {&macro_mentions_, &macro_tests_}) {
      for (const auto& [file, mention] : *mentions) {
        if (may_be_absolute(mention.whole, definitions)) {
          refuse(file, mention, "could name a file by its absolute path, which no key covers");
        }
      }
    }
  }

  void include(FileId includer, const Mention& mention) {
    const HeaderName& header = mention.header;
    if (is_generated(header.text)) {
      return;
    }
    bool is_next = mention.kind == Mention::Kind::include_next;
    std::optional<FileId> found = resolve(includer, header, is_next);
    std::string name = found ? files_[*found].name : unreachable_name(header.text);
    if (name != header.text || (found && is_next)) {
      replacements_[includer].push_back({mention.begin, mention.end, "include " + spelled(name, header.is_quoted)});
    }
  }

  /// An absolute name without its leading '/': NVRTC would read an absolute one from the disk.
  static std::string unreachable_name(std::string_view name) {
    std::size_t start = name.find_first_not_of('/');
    return std::string(name.substr(std::min(start, name.size())));
  }

  bool is_on_disk(const fs::path& path) {
    looked_for_.insert(path);
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
  }

  /// Only whether the header is there: its content changes nothing.
  bool exists_for(FileId includer, const HeaderName& header) {
    std::string name(header.text);
    if (fs::path(name).is_absolute()) {
      return is_on_disk(name);
    }
    const File& from = files_[includer];
    if (header.is_quoted) {
      std::string beside = joined_name(includer == 0 ? std::string_view() : std::string_view(from.name), name);
      bool is_beside = search_.memory.contains(beside) || builtin_header(beside).has_value() ||
                       (!from.folder.empty() && is_on_disk(from.folder / name));
      if (is_beside) {
        return true;
      }
    }
    return search_.memory.contains(name) || builtin_header(name).has_value() ||
           std::any_of(search_.include_dirs.begin(), search_.include_dirs.end(),
                       [&](const fs::path& dir) { return is_on_disk(dir / name); });
  }

  /// For names that cannot be rewritten because a macro holds them: the spelling itself must lead to the file.
  void make_reachable_as(const HeaderName& header, FileId target, std::string_view macro) {
    std::string name(header.text);
    if (files_[target].name == name || is_generated(name)) {
      return;
    }
    auto [taken, is_free] = names_.try_emplace(name, target);
    if (is_free) {
      aliases_.emplace(name, target);
    } else if (taken->second != target) {
      throw TemplateError(std::string(template_name_), {},
                          "header " + quote(name) + " means two files, one of them through the macro " +
                              std::string(macro) + ": include one of them by another path");
    }
  }

  void follow_macros() {
    for (std::size_t i = 0; i < macro_mentions_.size(); ++i) {
      auto [includer, mention] = macro_mentions_[i];
      std::set<std::string_view> seen;
      follow_macro(includer, mention.header.text, seen);
      if (!mention.arguments.empty()) {
        // STRINGIFY(x.h) and the like: the argument itself may be the name.
        for (bool is_quoted : {true, false}) {
          HeaderName header{mention.arguments, is_quoted};
          if (auto found = resolve(includer, header, false)) {
            make_reachable_as(header, *found, mention.header.text);
          }
        }
      }
    }
  }

  void follow_macro(FileId includer, std::string_view name, std::set<std::string_view>& seen) {
    if (!seen.insert(name).second) {
      return;
    }
    auto [first, last] = macros_.equal_range(name);
    std::vector<KnownMacro> definitions;
    for (auto it = first; it != last; ++it) {
      definitions.push_back(it->second);
    }
    for (const KnownMacro& definition : definitions) {
      const HeaderMacro& macro = definition.macro;
      if (macro.header.text.empty()) {
        follow_macro(includer, macro.alias, seen);
      } else if (!is_generated(macro.header.text)) {
        include_through_macro(includer, definition);
      }
    }
  }

  void include_through_macro(FileId includer, const KnownMacro& definition) {
    const HeaderMacro& macro = definition.macro;
    std::optional<FileId> found = resolve(includer, macro.header, false);
    if (!fs::path(macro.header.text).is_absolute()) {
      if (found) {
        make_reachable_as(macro.header, *found, macro.name);
      }
      return;
    }
    if (definition.file == k_option) {
      throw TemplateError(std::string(template_name_), {},
                          "option -D" + std::string(macro.name) + " names the header " + quote(macro.header.text) +
                              " by an absolute path, which no other machine may have: give its folder as an include "
                              "directory and a relative name");
    }
    std::string name = found ? files_[*found].name : unreachable_name(macro.header.text);
    if (rewritten_macros_.emplace(definition.file, macro.begin).second) {
      replacements_[definition.file].push_back({macro.begin, macro.end, spelled(name, macro.header.is_quoted)});
    }
  }

  /// -DNAME="x.h" and -DNAME=<x.h>, scanned as the #define they are.
  void collect_option_macros() {
    for (std::size_t i = 0; i < search_.options.size(); ++i) {
      std::string_view option = search_.options[i];
      std::string_view definition;
      for (std::string_view prefix : {"--define-macro", "-define-macro", "-D"}) {
        if (option == prefix && i + 1 < search_.options.size()) {
          definition = search_.options[i + 1];
        } else if (option.starts_with(prefix)) {
          definition = option.substr(prefix.size());
        } else {
          continue;
        }
        break;
      }
      while (definition.starts_with('=') || definition.starts_with(' ')) {
        definition.remove_prefix(1);
      }
      std::size_t equals = definition.find('=');
      if (equals == std::string_view::npos) {
        continue;
      }
      option_text_ += "#define " + std::string(definition.substr(0, equals)) + " " +
                      std::string(definition.substr(equals + 1)) + "\n";
    }
    option_scan_ = scan_includes(option_text_);
    for (const HeaderMacro& macro : option_scan_.macros) {
      macros_.emplace(macro.name, KnownMacro{k_option, macro});
    }
  }

  Closure finish() {
    Closure closure;
    closure.text = rewritten(0);
    for (FileId id = 1; id < files_.size(); ++id) {
      closure.headers.push_back({files_[id].name, rewritten(id)});
    }
    for (const auto& [name, target] : aliases_) {
      closure.headers.push_back({name, "#include \"" + files_[target].name + "\"\n"});
    }
    std::sort(closure.headers.begin(), closure.headers.end(),
              [](const Header& a, const Header& b) { return a.name < b.name; });
    closure.files.assign(looked_for_.begin(), looked_for_.end());
    return closure;
  }

  std::string rewritten(FileId id) {
    std::vector<Replacement>& list = replacements_[id];
    std::string& text = files_[id].text;
    if (list.empty()) {
      return std::move(text);
    }
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::string result;
    std::size_t done = 0;
    for (const Replacement& replacement : list) {
      result.append(text, done, replacement.begin - done);
      result += replacement.text;
      auto lines = std::count(text.begin() + static_cast<std::ptrdiff_t>(replacement.begin),
                              text.begin() + static_cast<std::ptrdiff_t>(replacement.end), '\n');
      for (; lines > 0; --lines) {
        result += " \\\n";
      }
      done = replacement.end;
    }
    result.append(text, done);
    return result;
  }

  std::string_view template_name_;
  const HeaderSearch& search_;
  std::deque<File> files_;  // a deque: scans view the texts
  std::deque<std::vector<Replacement>> replacements_;
  std::unordered_map<std::string, FileId> names_;
  std::unordered_map<std::string, FileId> virtual_files_;
  std::unordered_map<std::string, std::optional<FileId>> paths_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, FileId> inodes_;
  std::set<fs::path> looked_for_;
  std::map<std::string, FileId> aliases_;
  std::unordered_multimap<std::string_view, KnownMacro> macros_;
  std::vector<std::pair<FileId, Mention>> macro_mentions_;
  std::vector<std::pair<FileId, Mention>> macro_tests_;
  std::set<std::pair<FileId, std::size_t>> rewritten_macros_;
  std::string option_text_;
  Scan option_scan_;
  FileId followed_ = 0;
};

}  // namespace

Closure find_headers(std::string_view template_name, std::string text, const HeaderSearch& search) {
  for (const auto& [name, header] : search.memory) {
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }) || name.empty()) {
      throw TemplateError(std::string(template_name), {},
                          "the header name " + quote(name) + " cannot be included: give one of printable characters");
    }
    if (is_generated(name)) {
      throw TemplateError(std::string(template_name), {},
                          "the header name " + quote(name) + " is generated by Kiln; choose another");
    }
  }
  return Finder(template_name, search).run(std::move(text));
}

}  // namespace kiln::jit
