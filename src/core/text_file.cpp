#include "kiln/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <optional>
#include <stdexcept>

#include "kiln/error.hpp"
#include "kiln/file_trouble.hpp"
#include "support/unique_handle.hpp"

namespace kiln {

namespace {

struct DescriptorTraits {
  using Type = int;
  static Type invalid() noexcept { return -1; }
  static void close(Type descriptor) noexcept { ::close(descriptor); }
};
using Descriptor = support::UniqueHandle<DescriptorTraits>;

/// UTF-8's, which some editors put before the text.
constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

/// What stands in the way of reading a file of this kind as text; empty for a regular file.
std::string problem_of(const struct stat& status, std::uint64_t most) {
  if (S_ISREG(status.st_mode)) {
    auto bytes = static_cast<std::uint64_t>(status.st_size);
    return bytes <= most ? std::string()
                         : "it has " + std::to_string(bytes) + " bytes, and at most " + std::to_string(most) +
                               " are read; name a smaller file";
  }
  std::string what = S_ISDIR(status.st_mode)                              ? "it is a folder"
                     : S_ISFIFO(status.st_mode)                           ? "it is a pipe"
                     : S_ISSOCK(status.st_mode)                           ? "it is a socket"
                     : S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) ? "it is a device"
                                                                          : "it is no regular file";
  return what + "; name a regular file";
}

/// The text, or what is wrong. Looked at before it is opened, since to open a device or a pipe can do things; and
/// again after, since the name may lead elsewhere by then.
std::optional<std::string> read(const std::filesystem::path& file, std::uint64_t most, std::string& problem) {
  if (file.empty() || file.native().find('\0') != std::string::npos) {
    problem = file.empty() ? "the name is empty; give one" : "the name holds a NUL character; check it";
    return std::nullopt;
  }
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    problem = file_trouble(errno);
    return std::nullopt;
  }
  if (problem = problem_of(status, most); !problem.empty()) {
    return std::nullopt;
  }
  Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    problem = file_trouble(errno);
    return std::nullopt;
  }
  if (problem = problem_of(status, most); !problem.empty()) {
    return std::nullopt;
  }
  // A file that grows meanwhile is read to the end it has when it is reached, within the limit. One byte more than it
  // had is asked for, so that its end is seen at once.
  std::string text;
  auto size = static_cast<std::size_t>(status.st_size) + 1;
  for (std::size_t done = 0;;) {
    text.resize(size);
    ssize_t count = ::read(descriptor.get(), text.data() + done, size - done);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      problem = file_trouble(errno);
      return std::nullopt;
    }
    done += static_cast<std::size_t>(count);
    if (count == 0) {
      text.resize(done);
      return text;
    }
    if (done > most) {
      problem = "it grows beyond " + std::to_string(most) + " bytes while it is read; name a file that is complete";
      return std::nullopt;
    }
    size = done == size ? done + (done >> 1) + 1 : size;
  }
}

}  // namespace

std::string read_text_file(const std::filesystem::path& file, std::string_view thing, std::uint64_t most) {
  std::string problem;
  try {
    if (std::optional<std::string> text = read(file, most, problem)) {
      if (text->starts_with(k_byte_order_mark)) {
        text->erase(0, k_byte_order_mark.size());
      }
      return std::move(*text);
    }
  } catch (const std::bad_alloc&) {
    problem = "there is not enough memory for it; name a smaller file";
  } catch (const std::length_error&) {
    problem = "it is larger than any text can be; name a smaller file";
  }
  throw Error(ErrorCode::file_unreadable,
              "cannot read " + std::string(thing) + " " + quote_path(file) + ": " + problem);
}

}  // namespace kiln
