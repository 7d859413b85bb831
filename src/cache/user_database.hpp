#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "cache/connection.hpp"
#include "cache/row_check.hpp"
#include "kiln/service_options.hpp"

/// The user database as maintenance sees it: opened by name, so that what goes wrong is an exception.
namespace kiln::cache {

/// Whether the options name a user cache, be it there or not.
bool has_user_database(const ServiceOptions& options) noexcept;

/// Where the user database is. Throws Error{invalid_argument} when the options name no cache.
std::filesystem::path user_database_file(const ServiceOptions& options);

/// Whether there is a write-ahead log that holds something and that can be read without a file being made for it: its
/// shared memory is there.
bool has_live_log(const std::filesystem::path& file);

enum class Purpose { look, change };

/// Opens it with locks. In read-only mode without making or changing a file: the log is read if it is live, else the
/// main file as it is; the latter also only to look, where it cannot be locked (a read-only file system). Nothing
/// when there is none so far. Throws StoreError when it must not be touched: not trusted, made by a newer Kiln, a
/// read-only cache that is to be changed. Throws SqliteError when it is no usable database, busy, or unreadable.
std::unique_ptr<Connection> open_user_database(const ServiceOptions& options, Purpose purpose);

/// Gets the row, or null when its pages cannot be read, and what the row is worth.
using RowVisitor = std::function<void(const RowKey& key, const Row* row, CheckedRow checked)>;

/// Every row in the order of (key, compiler), checked, each read for itself: nothing is locked meanwhile, and a damaged
/// page costs the rows that are on it. Returns how many there were. Throws SqliteError when the keys cannot be listed,
/// also when they are not in order: a forged index might go round in circles.
std::uint64_t visit_checked(Store& store, const RowVisitor& visit);

}  // namespace kiln::cache
