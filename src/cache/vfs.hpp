#pragma once

namespace kiln::cache {

enum class FileUse {
  read_write,
  read_only,  ///< no database and no log is opened for writing: SQLite would, and make a log, even only to read
};

/// The name of a VFS for SQLite: the process's default one, but sleeping no longer than the thread's WaitBudget has
/// left. Never the default itself. Thread-safe. Throws std::bad_alloc.
const char* vfs_for(FileUse use);

}  // namespace kiln::cache
