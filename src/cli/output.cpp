#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "cli/interruption.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/link.hpp"

namespace kiln::cli {

namespace {

constexpr std::size_t k_buffer_bytes = 1U << 16;

/// False with errno set when not all could be written.
bool write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

[[noreturn]] void refuse(const std::filesystem::path& file, int error) {
  throw std::runtime_error(quote_path(file) + " cannot be written: " + file_trouble(error));
}

void write_through(const std::filesystem::path& file, std::string_view content) {
  int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    refuse(file, errno);
  }
  bool written = write_all(descriptor, content);
  int error = errno;
  if (::close(descriptor) != 0 && written) {
    refuse(file, errno);
  }
  if (!written) {
    refuse(file, error);
  }
}

/// A new file beside another, whose place it may take; gone if it does not.
class Aside {
 public:
  explicit Aside(const std::filesystem::path& file) : file_(file), name_(file.string() + ".XXXXXX") {
    descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
      refuse(file_, errno);
    }
  }
  ~Aside() { drop(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  const std::string& name() const noexcept { return name_; }

  void become(std::string_view content, mode_t mode) {
    // A network's file system may tell only when the file is closed that there is no room for it.
    bool written = write_all(descriptor_, content) && ::fchmod(descriptor_, mode) == 0 &&
                   ::close(std::exchange(descriptor_, -1)) == 0;
    if (!written || ::rename(name_.c_str(), file_.c_str()) != 0) {
      int error = errno;
      drop();
      refuse(file_, error);
    }
    name_.clear();
  }

 private:
  void drop() noexcept {
    if (descriptor_ >= 0) {
      ::close(std::exchange(descriptor_, -1));
    }
    if (!name_.empty()) {
      ::unlink(name_.c_str());
      name_.clear();
    }
  }

  const std::filesystem::path& file_;
  std::string name_;
  int descriptor_ = -1;
};

/// A cache or a pack took long to fill: what is written here never takes the place of one.
void refuse_database(const std::filesystem::path& file) {
  if (is_database(file)) {
    throw std::runtime_error(quote_path(file) +
                             " is a database, as caches and packs are: name another file, or remove it first");
  }
}

/// Where a file is, or would be made, by whatever links. Empty where that cannot be told.
std::filesystem::path place_of(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path end = kiln::through_links(file, error);
  if (!error) {
    end = std::filesystem::absolute(end, error);
  }
  if (!error) {
    end = std::filesystem::weakly_canonical(end.parent_path(), error) / end.filename();
  }
  return error ? std::filesystem::path() : end;
}

/// Of a path that names one that is open: /dev/stdout, /dev/fd/3. What it leads to may be a regular file, to which more
/// is written by others: that must stay.
std::optional<int> open_descriptor(const std::filesystem::path& file) {
  const std::string name = file.string();
  for (const auto& [path, descriptor] : {std::pair("/dev/stdout", STDOUT_FILENO), {"/dev/stderr", STDERR_FILENO}}) {
    if (name == path) {
      return descriptor;
    }
  }
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (name.starts_with(folder)) {
      int descriptor = 0;
      const char* const end = name.data() + name.size();
      const auto [rest, error] = std::from_chars(name.data() + folder.size(), end, descriptor);
      if (error == std::errc() && rest == end) {
        return descriptor;
      }
    }
  }
  return std::nullopt;
}

void replace(const std::filesystem::path& file, std::string_view content, mode_t mode) {
  Aside aside(file);
  TidyOnSignal tidy({aside.name()});
  aside.become(content, mode);
}

}  // namespace

void Output::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= k_buffer_bytes) {
    flush();
  }
}

void Output::line(std::string_view text) {
  write(text);
  write("\n");
}

void Output::flush() {
  bool written = write_all(STDOUT_FILENO, buffer_);
  int error = errno;
  buffer_.clear();
  if (!written) {
    throw OutputError(std::string("standard output cannot be written: ") + std::strerror(error), error == EPIPE);
  }
}

void prepare_standard_streams() noexcept {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      // Takes the lowest free number, which is this one. Wrong way round on purpose, see the header.
      static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is an error like a full disk
}

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

std::filesystem::path through_links(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path end = kiln::through_links(file, error);
  if (error) {
    refuse(file, error.value());
  }
  return end;
}

std::vector<std::filesystem::path> unfinished_pack(const std::filesystem::path& file) {
  std::filesystem::path unfinished = file.string() + ".new";
  std::error_code error;
  bool is_there = std::filesystem::symlink_status(unfinished, error).type() != std::filesystem::file_type::not_found;
  return is_there ? std::vector<std::filesystem::path>() : std::vector{unfinished};
}

bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code error;
  if (std::filesystem::equivalent(one, other, error) && !error) {
    return true;
  }
  const std::filesystem::path place = place_of(one);
  return !place.empty() && place == place_of(other);
}

bool is_database(const std::filesystem::path& file) {
  constexpr std::string_view k_magic = "SQLite format 3";
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return false;
  }
  std::string start(k_magic.size(), '\0');
  std::ifstream(file, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == k_magic;
}

void require_place_for(const std::filesystem::path& file) {
  std::filesystem::path end = through_links(file);
  refuse_database(end);
  std::error_code error;
  if (std::filesystem::is_directory(end, error)) {
    refuse(file, EISDIR);
  }
  if (end.has_parent_path() && !std::filesystem::is_directory(end.parent_path(), error)) {
    refuse(file, error ? error.value() : ENOTDIR);
  }
}

void write_file(Output& out, const std::filesystem::path& file, std::string_view content) {
  const std::optional<int> open_one = open_descriptor(file);
  if (file == "-" || open_one == STDOUT_FILENO) {
    out.write(content);
    out.flush();
    return;
  }
  if (open_one) {
    if (!write_all(*open_one, content)) {
      refuse(file, errno);
    }
    return;
  }
  // A device or a pipe is written to; only a regular file can be replaced.
  struct stat before{};
  bool exists = ::stat(file.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode)) {
    write_through(file, content);
    return;
  }
  refuse_database(file);
  mode_t mask = ::umask(0);
  ::umask(mask);
  replace(through_links(file), content, exists ? before.st_mode & 0777 : 0666 & ~mask);
}

}  // namespace kiln::cli
