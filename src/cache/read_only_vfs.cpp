#include "cache/read_only_vfs.hpp"

#include <sqlite3.h>

#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace kiln::cache {

namespace {

/// SQLite knows it by its first member.
struct ReadOnlyVfs {
  sqlite3_vfs vfs;
  sqlite3_vfs* base;
  std::string name;
};

int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  // Without a name it is a file of SQLite's own, in the folder for such, gone when it is closed: to sort in.
  if (name != nullptr) {
    flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    flags |= SQLITE_OPEN_READONLY;
  }
  sqlite3_vfs* base = reinterpret_cast<ReadOnlyVfs*>(vfs)->base;
  return base->xOpen(base, name, file, flags, out_flags);
}

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<ReadOnlyVfs>> all;
};

// Never destroyed: SQLite keeps the pointers.
Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

}  // namespace

const char* read_only_vfs() {
  std::lock_guard lock(registry().mutex);
  sqlite3_vfs* base = sqlite3_vfs_find(nullptr);
  for (const std::unique_ptr<ReadOnlyVfs>& made : registry().all) {
    if (made->base == base) {
      return made->name.c_str();
    }
  }
  auto made = std::make_unique<ReadOnlyVfs>();
  made->vfs = *base;
  made->base = base;
  made->name = std::string("kiln-read-only-") + base->zName;
  made->vfs.zName = made->name.c_str();
  made->vfs.pNext = nullptr;
  made->vfs.xOpen = open;
  if (sqlite3_vfs_register(&made->vfs, 0) != SQLITE_OK) {
    throw std::bad_alloc();
  }
  registry().all.push_back(std::move(made));
  return registry().all.back()->name.c_str();
}

}  // namespace kiln::cache
