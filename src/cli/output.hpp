#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

/// Standard output could not be written. `reader_left`: it is a pipe that nobody reads any more, which is no error
/// worth a word.
class OutputError : public std::runtime_error {
 public:
  OutputError(const std::string& message, bool reader_left) : std::runtime_error(message), reader_left_(reader_left) {}
  bool reader_left() const noexcept { return reader_left_; }

 private:
  bool reader_left_;
};

/// Standard output, buffered; unlike std::cout it tells why a write failed. Nothing is lost silently: call `flush`
/// before the program ends. Throws OutputError.
class Output {
 public:
  void write(std::string_view text);
  void line(std::string_view text);
  void flush();

 private:
  std::string buffer_;
};

/// Gives descriptors 0 to 2 something to be, so that no file opened later gets one of them and is written over. One
/// that was closed still refuses to be written. Also keeps a pipe without a reader, and the limit of a file's size,
/// from killing the program: writing fails then.
void prepare_standard_streams() noexcept;

bool is_terminal(int descriptor) noexcept;

/// Where a file is really written: the end of the symbolic links at `file`, which stay. Throws std::runtime_error for
/// links that lead in a circle.
std::filesystem::path through_links(const std::filesystem::path& file);
/// Whether both are one file, by whatever links, or would be if they were made.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);
/// As caches and packs are.
bool is_database(const std::filesystem::path& file);

/// Where a pack for `file` is going to be put together: FILE.new. It is worth nothing when the program is stopped.
/// Nothing when there is a file of that name already: it may be somebody's.
std::vector<std::filesystem::path> unfinished_pack(const std::filesystem::path& file);

/// Throws std::runtime_error, as `write_file` would, where it is clear beforehand that the file cannot be written: its
/// folder is not there, or it is a folder or a database.
void require_place_for(const std::filesystem::path& file);

/// Writes a file whole: aside, then in place of what was there, whose permissions it keeps. "-" is standard output.
/// Throws std::runtime_error naming the file; also where it is a database, as caches and packs are.
void write_file(Output& out, const std::filesystem::path& file, std::string_view content);

}  // namespace kiln::cli
