#pragma once

#include <sys/types.h>

#include <filesystem>

namespace kiln::emulation {

/// A new private folder (mode 0700) that is removed, with everything in it, when this object goes or when the process
/// ends, however it ends: a small program of its own, /bin/sh, makes the folder, waits for the end of this process and
/// removes it. It hears no signal meant for this process.
class GuardedFolder {
 public:
  /// `kiln-emulation-XXXXXX` in `parent`. Throws Error{host_compiler} naming the folder that cannot be made, and why.
  explicit GuardedFolder(const std::filesystem::path& parent);
  ~GuardedFolder();
  GuardedFolder(const GuardedFolder&) = delete;
  GuardedFolder& operator=(const GuardedFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  int guard_ = -1;  ///< a socket: the guard acts on a line, or on its end
  pid_t child_ = 0;
  std::filesystem::path path_;
};

}  // namespace kiln::emulation
