#include "emulation/guarded_folder.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "emulation/spawn.hpp"
#include "kiln/error.hpp"
#include "kiln/file_trouble.hpp"

namespace kiln::emulation {
namespace {

namespace fs = std::filesystem;

// The guard makes the folder itself, so that there is no moment at which the folder is there and the guard is not.
// While the folder is removed a compiler may still be writing into it: then once more.
constexpr const char* k_script =
    "trap '' HUP INT QUIT TERM PIPE\n"
    "PATH=\"${PATH:+$PATH:}/usr/bin:/bin\"\n"  // an empty part of it would be the current folder
    "folder=$(mktemp -d \"$1\") || exit 1\n"
    "printf '%s\\n' \"$folder\"\n"
    "read -r word\n"
    "for attempt in 1 2 3 4 5; do rm -rf \"$folder\" && exit; sleep 1; done\n";

[[noreturn]] void refuse(const fs::path& parent, const std::string& why) {
  throw Error(ErrorCode::host_compiler, "no folder for the emulation can be made in " + quote_path(parent) + ": " +
                                            why + "; TMPDIR names another place");
}

/// A line from the guard, without its end; empty when it ended without one.
std::string read_line(int socket) {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t count = ::read(socket, &c, 1);
    if (count == 1 && c != '\n') {
      line += c;
    } else if (count == 1 || count == 0 || errno != EINTR) {
      return count == 1 ? line : std::string();
    }
  }
}

}  // namespace

GuardedFolder::GuardedFolder(const fs::path& parent) {
  if (::access(parent.c_str(), W_OK | X_OK) != 0) {
    refuse(parent, file_trouble(errno));
  }
  std::error_code problem;
  const fs::path whole = fs::absolute(parent, problem);
  if (problem) {
    refuse(parent, file_trouble(problem.value()));
  }
  if (whole.native().find('\n') != std::string::npos) {
    refuse(parent, "its name has a line break, which ends what is heard of the folder");
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    refuse(parent, file_trouble(errno));
  }
  guard_ = ends[0];
  FileActions files;
  files.copy(ends[1], STDIN_FILENO);
  files.copy(ends[1], STDOUT_FILENO);
  files.open(STDERR_FILENO, "/dev/null", O_WRONLY);
  const std::string pattern = (whole / "kiln-emulation-XXXXXX").string();
  const int error = spawn({"/bin/sh", "-c", k_script, "kiln-guard", pattern}, files, Session::own, {}, child_);
  ::close(ends[1]);
  path_ = error == 0 ? read_line(guard_) : std::string();
  if (path_.empty()) {
    ::close(guard_);
    if (int status = 0; error == 0) {
      wait_for(child_, status);
    }
    refuse(parent, error == 0 ? "mktemp failed" : "/bin/sh cannot be started: " + file_trouble(error));
  }
}

GuardedFolder::~GuardedFolder() {
  // A line, and not the end of the socket alone: a process forked from this one may hold the socket too. No SIGPIPE,
  // should someone have killed the guard.
  ::send(guard_, "\n", 1, MSG_NOSIGNAL);
  ::close(guard_);
  int status = 0;
  wait_for(child_, status);
  std::error_code ignored;
  fs::remove_all(path_, ignored);  // should the guard not have
}

}  // namespace kiln::emulation
