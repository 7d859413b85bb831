#pragma once

#include <filesystem>
#include <memory>

#include "cache/file_identity.hpp"
#include "cache/pack_policy.hpp"
#include "cache/row.hpp"

namespace kiln::cache {

class Store;

/// Throws StoreError that names `output`, the pack that `file` is for, where there is something at `file`, or where
/// SQLite would read it beside that, which no interrupted run can have left: nobody's file is written over.
void require_own_remains(const std::filesystem::path& file, const std::filesystem::path& output);

/// Makes an empty file, in the place of what an interrupted run has left at `file`. Throws StoreError that names
/// `output`, the pack that it is for.
FileIdentity make_anew(const std::filesystem::path& file, const std::filesystem::path& output);

/// Writes a pack in one go: the same rows give the same bytes. It appears at its place whole, or not at all.
/// Not thread-safe.
class PackFile {
 public:
  /// Begins `OUTPUT.new`, over what an interrupted run may have left there. Throws StoreError.
  PackFile(std::filesystem::path output, PackPolicy policy);
  ~PackFile();
  PackFile(const PackFile&) = delete;
  PackFile& operator=(const PackFile&) = delete;

  /// In the order of (key, compiler), each once: `Store::visit_all` gives them so. `id` and `last_used` are not taken
  /// over. Throws StoreError.
  void add(const Row& row);
  /// Makes the pack durable and puts it in place. Throws StoreError, also when another process has begun to write the
  /// same pack meanwhile: that one's is then put in place.
  void finish();

 private:
  void give_up() noexcept;
  bool is_ours() const noexcept;

  std::filesystem::path output_;
  std::filesystem::path aside_;
  FileIdentity identity_;  ///< of what was made at `aside_`
  bool is_in_place_ = false;
  std::unique_ptr<Store> store_;
};

}  // namespace kiln::cache
