#include "cache/vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "cache/wait_budget.hpp"

namespace kiln::cache {

namespace {

/// SQLite knows it by its first member.
struct DerivedVfs {
  sqlite3_vfs vfs;
  sqlite3_vfs* base;
  FileUse use;
  std::string name;
};

sqlite3_vfs* base_of(sqlite3_vfs* vfs) { return reinterpret_cast<DerivedVfs*>(vfs)->base; }

int open_read_only(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  // Without a name it is a file of SQLite's own, in the folder for such, gone when it is closed: to sort in.
  if (name != nullptr) {
    flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    flags |= SQLITE_OPEN_READONLY;
  }
  return base_of(vfs)->xOpen(base_of(vfs), name, file, flags, out_flags);
}

int sleep(sqlite3_vfs* vfs, int asked) {
  const auto granted = WaitBudget::take(std::chrono::microseconds(asked));
  return granted.count() <= 0 ? 0 : base_of(vfs)->xSleep(base_of(vfs), static_cast<int>(granted.count()));
}

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<DerivedVfs>> all;
};

// Never destroyed: SQLite keeps the pointers.
Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

std::unique_ptr<DerivedVfs> derive(sqlite3_vfs* base, FileUse use) {
  auto derived = std::make_unique<DerivedVfs>(DerivedVfs{*base, base, use, {}});
  // Another copy of this library in the process has its own.
  char name[64];
  std::snprintf(name, sizeof(name), "kiln-%p", static_cast<void*>(derived.get()));
  derived->name = name;
  derived->vfs.zName = derived->name.c_str();
  derived->vfs.pNext = nullptr;
  derived->vfs.xSleep = sleep;
  if (use == FileUse::read_only) {
    derived->vfs.xOpen = open_read_only;
  }
  return derived;
}

}  // namespace

const char* vfs_for(FileUse use) {
  sqlite3_initialize();
  sqlite3_vfs* const base = sqlite3_vfs_find(nullptr);
  std::lock_guard lock(registry().mutex);
  auto& all = registry().all;
  const auto found = std::ranges::find_if(all, [&](const auto& vfs) { return vfs->base == base && vfs->use == use; });
  if (found != all.end()) {
    return (*found)->vfs.zName;
  }
  all.push_back(derive(base, use));
  if (sqlite3_vfs_register(&all.back()->vfs, 0) != SQLITE_OK) {
    all.pop_back();
    throw std::bad_alloc();
  }
  return all.back()->vfs.zName;
}

}  // namespace kiln::cache
