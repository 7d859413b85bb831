#pragma once

namespace kiln::cache {

/// The name of a VFS for SQLite that opens no database and no log for writing; everything else is the process's default
/// VFS. SQLite opens a write-ahead log for writing, and makes it, even for a connection that only reads. Thread-safe.
/// Throws std::bad_alloc.
const char* read_only_vfs();

}  // namespace kiln::cache
