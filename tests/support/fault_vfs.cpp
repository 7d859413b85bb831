#include "support/fault_vfs.hpp"

#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string>

namespace kiln::test {
namespace {

struct State {
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs vfs{};
  bool armed = false;
  Fault fault = Fault::io_error;
  Times times = Times::once;
  std::uint64_t call = 0;
  std::uint64_t seen = 0;
  std::uint64_t injected = 0;
  std::uint64_t slept_us = 0;
};

State state;  // SQLite's VFS list is the process's, too

/// Called once for each call that can fail as `fault` says.
bool strikes(Fault fault) noexcept {
  if (!state.armed || state.fault != fault) {
    return false;
  }
  ++state.seen;
  if (state.seen != state.call && (state.times == Times::once || state.seen < state.call)) {
    return false;
  }
  ++state.injected;
  return true;
}

struct File {
  sqlite3_file base;
  sqlite3_file* real;  ///< lies behind this in the same allocation
};

sqlite3_file* real_of(sqlite3_file* file) noexcept { return reinterpret_cast<File*>(file)->real; }

int close_file(sqlite3_file* file) {
  // Never fails: SQLite does not look, and what failed would leak.
  return real_of(file)->pMethods == nullptr ? SQLITE_OK : real_of(file)->pMethods->xClose(real_of(file));
}

int read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  if (strikes(Fault::io_error)) {
    return SQLITE_IOERR_READ;
  }
  const int code = real_of(file)->pMethods->xRead(real_of(file), data, size, offset);
  if (code == SQLITE_OK && strikes(Fault::early_end)) {
    std::memset(static_cast<char*>(data) + size / 2, 0, static_cast<std::size_t>(size - size / 2));
    return SQLITE_IOERR_SHORT_READ;
  }
  return code;
}

int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (strikes(Fault::io_error)) {
    return SQLITE_IOERR_WRITE;
  }
  if (strikes(Fault::disk_full)) {
    return SQLITE_FULL;
  }
  const bool kills = strikes(Fault::kill);
  if (kills || strikes(Fault::short_write)) {
    real_of(file)->pMethods->xWrite(real_of(file), data, size / 2, offset);
    if (kills) {
      ::kill(::getpid(), SIGKILL);
    }
    return SQLITE_IOERR_WRITE;
  }
  return real_of(file)->pMethods->xWrite(real_of(file), data, size, offset);
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (strikes(Fault::kill)) {
    ::kill(::getpid(), SIGKILL);
  }
  if (strikes(Fault::io_error)) {
    return SQLITE_IOERR_TRUNCATE;
  }
  return strikes(Fault::disk_full) ? SQLITE_FULL : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

/// Loss of power is not simulated, and without it nothing is gained by waiting for the disk.
int sync(sqlite3_file*, int) {
  if (strikes(Fault::kill)) {
    ::kill(::getpid(), SIGKILL);
  }
  if (strikes(Fault::io_error)) {
    return SQLITE_IOERR_FSYNC;
  }
  return strikes(Fault::disk_full) ? SQLITE_FULL : SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return strikes(Fault::io_error) ? SQLITE_IOERR_FSTAT : real_of(file)->pMethods->xFileSize(real_of(file), size);
}

int lock(sqlite3_file* file, int level) {
  if (strikes(Fault::io_error)) {
    return SQLITE_IOERR_LOCK;
  }
  return strikes(Fault::no_lock) ? SQLITE_BUSY : real_of(file)->pMethods->xLock(real_of(file), level);
}

int unlock(sqlite3_file* file, int level) { return real_of(file)->pMethods->xUnlock(real_of(file), level); }

int check_reserved(sqlite3_file* file, int* held) {
  return strikes(Fault::io_error) ? SQLITE_IOERR_CHECKRESERVEDLOCK
                                  : real_of(file)->pMethods->xCheckReservedLock(real_of(file), held);
}

int control(sqlite3_file* file, int operation, void* argument) {
  return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

int sector_size(sqlite3_file* file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); }

int characteristics(sqlite3_file* file) { return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file)); }

int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  if (strikes(Fault::io_error)) {
    return SQLITE_IOERR_SHMMAP;
  }
  if (extend != 0 && strikes(Fault::disk_full)) {
    return SQLITE_IOERR_SHMSIZE;
  }
  return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extend, memory);
}

int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  if ((flags & SQLITE_SHM_LOCK) != 0) {
    if (strikes(Fault::io_error)) {
      return SQLITE_IOERR_SHMLOCK;
    }
    if (strikes(Fault::no_lock)) {
      return SQLITE_BUSY;
    }
  }
  return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

void barrier(sqlite3_file* file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); }

int unmap_shared(sqlite3_file* file, int remove) { return real_of(file)->pMethods->xShmUnmap(real_of(file), remove); }

int fetch(sqlite3_file* file, sqlite3_int64 offset, int size, void** data) {
  if (strikes(Fault::io_error)) {
    return SQLITE_IOERR_MMAP;
  }
  return real_of(file)->pMethods->xFetch(real_of(file), offset, size, data);
}

int unfetch(sqlite3_file* file, sqlite3_int64 offset, void* data) {
  return real_of(file)->pMethods->xUnfetch(real_of(file), offset, data);
}

const sqlite3_io_methods k_methods{3,
                                   close_file,
                                   read,
                                   write,
                                   truncate,
                                   sync,
                                   file_size,
                                   lock,
                                   unlock,
                                   check_reserved,
                                   control,
                                   sector_size,
                                   characteristics,
                                   map_shared,
                                   lock_shared,
                                   barrier,
                                   unmap_shared,
                                   fetch,
                                   unfetch};

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (strikes(Fault::io_error)) {
    return SQLITE_CANTOPEN;
  }
  if ((flags & SQLITE_OPEN_CREATE) != 0 && strikes(Fault::disk_full)) {
    return SQLITE_CANTOPEN;
  }
  auto* own = reinterpret_cast<File*>(file);
  own->real = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(File));
  own->real->pMethods = nullptr;
  const int code = state.real->xOpen(state.real, name, own->real, flags, out_flags);
  if (code == SQLITE_OK) {
    file->pMethods = &k_methods;
  }
  return code;
}

int remove(sqlite3_vfs*, const char* name, int sync_directory) {
  if (strikes(Fault::kill)) {
    ::kill(::getpid(), SIGKILL);
  }
  return strikes(Fault::io_error) ? SQLITE_IOERR_DELETE : state.real->xDelete(state.real, name, sync_directory);
}

int access(sqlite3_vfs*, const char* name, int flags, int* result) {
  return strikes(Fault::io_error) ? SQLITE_IOERR_ACCESS : state.real->xAccess(state.real, name, flags, result);
}

int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
  return strikes(Fault::io_error) ? SQLITE_CANTOPEN : state.real->xFullPathname(state.real, name, size, out);
}

int sleep(sqlite3_vfs*, int microseconds) {
  state.slept_us += static_cast<std::uint64_t>(microseconds);
  return microseconds;
}

/// Below SQLite's own VFS, which has to read on after a short count.
ssize_t short_pread(int file, void* data, size_t size, off_t offset) {
  return ::pread(file, data, size > 1 && strikes(Fault::short_read) ? size / 2 : size, offset);
}

void set_pread(sqlite3_syscall_ptr function) {
  for (const char* name : {"pread", "pread64"}) {
    if (state.real->xGetSystemCall(state.real, name) != nullptr) {
      state.real->xSetSystemCall(state.real, name, function);
    }
  }
}

}  // namespace

const char* name_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::io_error:
      return "io_error";
    case Fault::disk_full:
      return "disk_full";
    case Fault::short_read:
      return "short_read";
    case Fault::early_end:
      return "early_end";
    case Fault::short_write:
      return "short_write";
    case Fault::no_lock:
      return "no_lock";
    case Fault::kill:
      return "kill";
  }
  return "";
}

FaultVfs::FaultVfs() {
  state = State{};
  state.real = sqlite3_vfs_find(nullptr);
  state.vfs = *state.real;  // time, sleep, randomness are the real one's
  state.vfs.szOsFile = static_cast<int>(sizeof(File)) + state.real->szOsFile;
  state.vfs.zName = "kiln-fault";
  state.vfs.xOpen = open;
  state.vfs.xDelete = remove;
  state.vfs.xAccess = access;
  state.vfs.xFullPathname = full_path;
  state.vfs.xSleep = sleep;
  set_pread(reinterpret_cast<sqlite3_syscall_ptr>(short_pread));
  sqlite3_vfs_register(&state.vfs, 1);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&state.vfs);
  set_pread(nullptr);  // the default
  sqlite3_vfs_register(state.real, 1);
}

void FaultVfs::arm(Fault fault, std::uint64_t call, Times times) noexcept {
  state.fault = fault;
  state.call = call;
  state.times = times;
  state.seen = 0;
  state.injected = 0;
  state.slept_us = 0;
  state.armed = true;
}

std::uint64_t FaultVfs::slept_us() const noexcept { return state.slept_us; }

std::uint64_t FaultVfs::disarm() noexcept {
  state.armed = false;
  return state.injected;
}

}  // namespace kiln::test
