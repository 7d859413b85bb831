#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace kiln::emulation {

/// What a program that is started finds at its descriptors.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void open(int descriptor, const char* file, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, file, flags, 0600);
  }
  void copy(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

enum class Session {
  ours,  ///< what the terminal sends to this process, it sends to the child too
  own,   ///< nothing from this terminal reaches the child
};

/// Starts `command[0]`, a path, with this process's environment, `changed` variables ("NAME=value") replaced. Gives an
/// errno, and `child` where that is 0.
int spawn(const std::vector<std::string>& command, const FileActions& files, Session session,
          const std::vector<std::string>& changed, pid_t& child);

/// Waits for a child. False with errno when it cannot be waited for, as where the process ignores SIGCHLD.
bool wait_for(pid_t child, int& status) noexcept;

}  // namespace kiln::emulation
