#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/row.hpp"
#include "cache/sqlite.hpp"

namespace kiln::cache {

/// What was measured: a permutation of a shape on a device.
struct Tuning {
  Digest map{};  ///< of the index map
  std::uint64_t element_bytes = 0;
  std::uint64_t inner = 0;
  std::uint64_t rows = 0;  ///< of a launch, rounded up to a power of two; 0: many
  std::string device;      ///< and what else decides which is fastest
};

/// The table `tunings` of a user database: which strategy was measured fastest. It is made when the first is kept, so
/// that versions of Kiln that know nothing of it share the database; one that looks otherwise than this version makes
/// it is left alone, and holds nothing. No policy: a SqliteError goes to the caller. A view of the database.
class Tunings {
 public:
  explicit Tunings(Database& database) noexcept : database_(database) {}

  std::optional<std::string> find(const Tuning& tuning);
  /// Keeps it, and of all the 4096 kept last. False when the table is not this version's. Within a transaction of the
  /// caller's.
  bool put(const Tuning& tuning, std::string_view strategy, std::int64_t now);
  void clear();
  std::uint64_t count();

 private:
  enum class Table { absent, ours, other };
  Table table();

  Database& database_;
};

}  // namespace kiln::cache
