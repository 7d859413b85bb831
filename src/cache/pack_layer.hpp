#pragma once

#include <memory>
#include <string_view>
#include <unordered_set>

#include "cache/connection.hpp"
#include "cache/fork_guard.hpp"
#include "cache/layer.hpp"

namespace kiln::cache {

/// A read-only layer made ahead of time. A pack that is broken is said so once and left out.
class PackLayer final : public Layer {
 public:
  PackLayer(std::filesystem::path file, LogCallback log);

  Found find(const Digest& key) override;
  std::optional<Row> find(const Digest& key, std::int64_t compiler) override;
  bool contains(const Digest& key) override;
  bool look_closer() override { return false; }
  PackPolicy policy() override;
  bool is_pack() const noexcept override { return true; }
  std::string name() const override { return file_.filename().string(); }
  void hit(const Row& row) override;
  void damaged(const Row& row) override;
  bool query(const Query& query, const std::function<bool(const Entry&)>& visit) override;
  void visit_prefix(std::string_view prefix, const std::function<bool(const Row&)>& visit) override;
  LayerStats stats() override;

 private:
  template <typename Use>
  bool attempt(Use use);
  Store* open();
  void degrade(std::string trouble);

  const std::filesystem::path file_;
  const LogCallback log_;
  std::mutex mutex_;
  Health health_;
  std::unique_ptr<Connection> connection_;
  PackPolicy policy_ = PackPolicy::any;
  std::unordered_set<std::int64_t> damaged_;  ///< the rows that were counted
  ForkGuard fork_guard_;
};

struct OpenPack {
  std::unique_ptr<Connection> connection;
  PackPolicy policy = PackPolicy::any;
};

/// What to do about a pack that serves a program and cannot.
inline constexpr std::string_view k_remedy_for_packs = "make it anew with `kiln precompile`, or correct KILN_PACKS";

/// Opens a pack for reading. Throws StoreError naming it, and `remedy`, when it is missing, not to be trusted, not a
/// pack, truncated or of a newer format.
OpenPack open_pack(const std::filesystem::path& file, std::string_view remedy = k_remedy_for_packs);

}  // namespace kiln::cache
