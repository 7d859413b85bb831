#pragma once

#include <cstdint>

/// A layer below SQLite that makes chosen I/O calls fail. While one `FaultVfs` lives it is the process's default VFS,
/// so that code under test needs no hook. Calls are counted over the whole process; not for tests that run threads.
namespace kiln::test {

enum class Fault {
  io_error,     ///< any call fails as if the device had: SQLITE_IOERR_*, or SQLITE_CANTOPEN
  disk_full,    ///< a write, truncation or synchronisation finds no space
  short_read,   ///< the system call gives only half of what was asked for, as it may at any time
  early_end,    ///< a read gives half and then the end of the file: someone truncated it
  short_write,  ///< a write puts down only half, then fails
  no_lock,      ///< a lock, of the file or of a WAL's shared memory, cannot be had
  kill,         ///< the process is killed at a write, half of it put down
};

const char* name_of(Fault fault) noexcept;

enum class Times {
  once,     ///< only the chosen call fails
  forever,  ///< and every later one that can fail in this way
};

class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  /// Makes the `call`-th call from now on (counted from 1) that can fail in this way fail.
  void arm(Fault fault, std::uint64_t call, Times times) noexcept;
  /// What SQLite asked to sleep since `arm`; it did not sleep.
  std::uint64_t slept_us() const noexcept;
  /// No more faults. Returns how many were injected since `arm`.
  std::uint64_t disarm() noexcept;
};

}  // namespace kiln::test
