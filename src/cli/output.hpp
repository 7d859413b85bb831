#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

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
/// that was closed still refuses to be written. Also keeps a pipe without a reader from killing the program.
void prepare_standard_streams() noexcept;

bool is_terminal(int descriptor) noexcept;

/// Writes a file whole: aside, then in place of what was there. "-" is standard output. Throws std::runtime_error
/// naming the file.
void write_file(Output& out, const std::filesystem::path& file, std::string_view content);

}  // namespace kiln::cli
