#pragma once

#include <filesystem>
#include <memory>

#include "cache/pack_policy.hpp"
#include "cache/row.hpp"

namespace kiln::cache {

class Store;

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
  /// Makes the pack durable and puts it in place. Throws StoreError.
  void finish();

 private:
  std::filesystem::path output_;
  std::filesystem::path aside_;
  std::unique_ptr<Store> store_;
};

}  // namespace kiln::cache
