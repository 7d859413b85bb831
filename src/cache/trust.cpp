#include "cache/trust.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "cache/file_identity.hpp"
#include "cache/private_group.hpp"
#include "kiln/file_trouble.hpp"
#include "support/unique_handle.hpp"

namespace kiln::cache {
namespace {

constexpr mode_t k_others_may_write = S_IWGRP | S_IWOTH;
constexpr int k_max_links = 40;  // as the kernel's own limit

struct DescriptorTraits {
  using Type = int;
  static int invalid() noexcept { return -1; }
  static void close(int descriptor) noexcept { ::close(descriptor); }
};
using Descriptor = support::UniqueHandle<DescriptorTraits>;

/// Something on disk, held open. Always with O_PATH: such a descriptor needs no permission on the file, does not block
/// on a FIFO, and closing it leaves alone the POSIX locks that SQLite holds on the same file in this process, which
/// closing any other descriptor would drop.
struct Node {
  Descriptor descriptor;
  struct stat status{};
  std::filesystem::path path;
};

/// Where a path leads, all symbolic links followed.
struct Place {
  Node parent;
  std::string name;
  Node self;
};

Trust refused(std::string reason) { return {Trust::Verdict::refused, std::move(reason), {}}; }

/// Where else to go, for the user cache or a pack.
const char* elsewhere(Owner owner) noexcept {
  return owner == Owner::caller ? "set KILN_CACHE_DIR to a path of your own" : "use a pack in a folder of your own";
}

/// Where this process has run out of something, no other place helps.
std::string why_and_what_to_do(int error, Owner owner) {
  return error == EMFILE || error == ENFILE || error == ENOMEM
             ? file_trouble(error)
             : std::generic_category().message(error) + "; " + elsewhere(owner);
}

Trust failed(const char* action, const std::filesystem::path& path, int error, Owner owner) {
  return {Trust::Verdict::failed,
          std::string("cannot ") + action + " '" + path.string() + "': " + why_and_what_to_do(error, owner),
          {}};
}

std::string describe(const Node& node) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "' (mode %04o, owner %u)", static_cast<unsigned>(node.status.st_mode & 07777),
                static_cast<unsigned>(node.status.st_uid));
  return "'" + node.path.string() + text.data();
}

bool is_owner(const struct stat& status, Owner owner, uid_t uid) {
  return status.st_uid == uid || (owner == Owner::root_or_caller && status.st_uid == 0);
}

/// `used_for` is whose remedy is told.
std::optional<Trust> check_owner(const Node& node, Owner owner, uid_t uid, Owner used_for) {
  if (is_owner(node.status, owner, uid)) {
    return std::nullopt;
  }
  return refused(describe(node) + " does not belong to user " + std::to_string(uid) +
                 (owner == Owner::root_or_caller ? " or root" : "") +
                 ": its owner could plant code in it; chown it, or " + elsewhere(used_for));
}

/// Does an access control list name who else may use the file? Then the group's bits of the mode are the list's mask.
bool has_access_list(const Node& node) {
  return ::lgetxattr(node.path.c_str(), "system.posix_acl_access", nullptr, 0) >= 0 ||
         (errno != ENODATA && errno != ENOTSUP);
}

std::optional<Trust> check_not_writable(const Node& node, uid_t uid) {
  const mode_t others = node.status.st_mode & k_others_may_write;
  if (others == 0 || (others == S_IWGRP && !has_access_list(node) && is_private_group(node.status.st_gid, uid))) {
    return std::nullopt;
  }
  return refused(describe(node) + " may be written by " +
                 ((node.status.st_mode & S_IWOTH) != 0 ? "everyone" : "its group") +
                 ", who could plant code in it; run chmod go-w '" + node.path.string() + "'");
}

/// A directory on the way: nobody else may rename or replace what it holds.
std::optional<Trust> check_parent(const Node& node, uid_t uid, Owner used_for) {
  if (auto refusal = check_owner(node, Owner::root_or_caller, uid, used_for)) {
    return refusal;
  }
  return (node.status.st_mode & S_ISVTX) != 0 ? std::nullopt : check_not_writable(node, uid);
}

/// Opens what stands at `name` in `parent`, a symbolic link itself. Returns 0 or the error.
int open_node(const Node& parent, const std::string& name, Node& node) {
  node.descriptor.reset(::openat(parent.descriptor.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!node.descriptor || ::fstat(node.descriptor.get(), &node.status) != 0) {
    return errno;
  }
  node.path = name == ".." ? parent.path.parent_path() : parent.path / name;
  return 0;
}

/// The directories a path goes through, one component at a time, so that each is checked before the next is looked up
/// in it. With `make`, those that lack are made.
class Walk {
 public:
  Walk(uid_t uid, bool make, Owner used_for) : uid_(uid), make_(make), used_for_(used_for) {}

  std::variant<Place, Trust> to(const std::filesystem::path& path) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    if (error) {
      return failed("make absolute", path, error.value(), used_for_);
    }
    push(absolute);
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (auto end = step(name)) {
        return std::move(*end);
      }
    }
    Place place;  // the path ended in "/", "." or ".."
    place.name = ".";
    if (const int code = open_node(here_, ".", place.self)) {
      return failed("open", here_.path, code, used_for_);
    }
    place.self.path = here_.path;
    place.parent = std::move(here_);
    return place;
  }

 private:
  using End = std::optional<std::variant<Place, Trust>>;

  void push(const std::filesystem::path& path) {
    std::vector<std::string> components;
    for (const auto& component : path) {
      if (!component.empty() && component != ".") {
        components.push_back(component.string());
      }
    }
    pending_.insert(pending_.end(), components.rbegin(), components.rend());
  }

  End step(const std::string& name) {
    if (name == "/") {
      here_.descriptor.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!here_.descriptor || ::fstat(here_.descriptor.get(), &here_.status) != 0) {
        return failed("open", "/", errno, used_for_);
      }
      here_.path = "/";
      return std::nullopt;
    }
    if (auto refusal = check_parent(here_, uid_, used_for_)) {
      return std::move(*refusal);
    }
    Node next;
    int code = open_node(here_, name, next);
    if (code == ENOENT && make_) {
      code = make_directory_here(name, next);
    }
    if (code == ENOENT) {
      return Trust{Trust::Verdict::absent, "'" + (here_.path / name).string() + "' does not exist", {}};
    }
    if (code != 0) {
      return failed(make_ ? "make or open" : "open", here_.path / name, code, used_for_);
    }
    if (S_ISLNK(next.status.st_mode)) {
      return follow(next);
    }
    if (pending_.empty() && name != "..") {
      return Place{std::move(here_), name, std::move(next)};
    }
    if (!S_ISDIR(next.status.st_mode)) {
      return failed("go through", next.path, ENOTDIR, used_for_);
    }
    here_ = std::move(next);
    return std::nullopt;
  }

  int make_directory_here(const std::string& name, Node& node) {
    if (::mkdirat(here_.descriptor.get(), name.c_str(), 0700) == 0) {
      // The umask may have taken bits away. Nobody else can have replaced the directory: the parent is trusted.
      if (::fchmodat(here_.descriptor.get(), name.c_str(), 0700, 0) != 0) {
        return errno;
      }
    } else if (errno != EEXIST) {
      return errno == ENOENT ? ESTALE : errno;  // ENOENT here: the parent was removed meanwhile
    }
    return open_node(here_, name, node);
  }

  End follow(const Node& link) {
    if (auto refusal = check_owner(link, Owner::root_or_caller, uid_, used_for_)) {
      return std::move(*refusal);
    }
    std::array<char, PATH_MAX> target{};
    const auto length = ::readlinkat(link.descriptor.get(), "", target.data(), target.size());
    if (length < 0) {
      return failed("read the link", link.path, errno, used_for_);
    }
    if (++links_ > k_max_links) {
      return failed("follow", link.path, ELOOP, used_for_);
    }
    push(std::filesystem::path(std::string(target.data(), static_cast<std::size_t>(length))));
    return std::nullopt;
  }

  uid_t uid_;
  bool make_;
  Owner used_for_;
  int links_ = 0;
  Node here_;
  std::vector<std::string> pending_;  ///< the next component last
};

Trust judge_directory(const std::variant<Place, Trust>& end, Owner owner, uid_t uid) {
  if (const auto* trust = std::get_if<Trust>(&end)) {
    return *trust;
  }
  const Node& self = std::get<Place>(end).self;
  if (!S_ISDIR(self.status.st_mode)) {
    return failed("use as a directory", self.path, ENOTDIR, owner);
  }
  for (auto& refusal : {check_owner(self, owner, uid, owner), check_not_writable(self, uid)}) {
    if (refusal) {
      return *refusal;
    }
  }
  return {Trust::Verdict::trusted, {}, self.path};
}

std::optional<Trust> judge_file(const Node& file, Owner owner, uid_t uid) {
  if (!S_ISREG(file.status.st_mode)) {
    return refused(describe(file) + " is not a regular file: name a database file");
  }
  if (auto refusal = check_owner(file, owner, uid, owner)) {
    return refusal;
  }
  return check_not_writable(file, uid);
}

std::optional<Trust> judge_database_directory(const Node& directory, Owner owner, uid_t uid) {
  if (owner == Owner::root_or_caller) {
    return check_parent(directory, uid, owner);
  }
  if (auto refusal = check_owner(directory, owner, uid, owner)) {
    return refusal;
  }
  return check_not_writable(directory, uid);
}

Trust judge_database(const std::variant<Place, Trust>& end, Owner owner, uid_t uid) {
  if (const auto* trust = std::get_if<Trust>(&end)) {
    return *trust;
  }
  const Place& place = std::get<Place>(end);
  if (auto refusal = judge_database_directory(place.parent, owner, uid)) {
    return *refusal;
  }
  if (auto refusal = judge_file(place.self, owner, uid)) {
    return *refusal;
  }
  for (const char* suffix : k_beside_database) {
    Node sibling;
    const int code = open_node(place.parent, place.name + suffix, sibling);
    if (code == ENOENT) {
      continue;
    }
    if (code != 0) {
      return failed("open", place.parent.path / (place.name + suffix), code, owner);
    }
    if (auto refusal = judge_file(sibling, owner, uid)) {
      return *refusal;
    }
  }
  return {Trust::Verdict::trusted, {}, place.self.path};
}

/// The only exception these functions meet is that memory ran out.
template <typename Function>
Trust guarded(Function&& function) noexcept {
  try {
    return std::forward<Function>(function)();
  } catch (...) {
    Trust trust;
    trust.verdict = Trust::Verdict::failed;
    trust.reason.assign("out of memory");  // fits in the string itself: allocates nothing
    return trust;
  }
}

}  // namespace

Trust trust_directory(const std::filesystem::path& directory, Owner owner, uid_t uid) noexcept {
  return guarded([&] { return judge_directory(Walk(uid, false, owner).to(directory), owner, uid); });
}

Trust trust_database(const std::filesystem::path& file, Owner owner, uid_t uid) noexcept {
  return guarded([&] { return judge_database(Walk(uid, false, owner).to(file), owner, uid); });
}

Trust make_directory(const std::filesystem::path& directory, uid_t uid) noexcept {
  return guarded([&] { return judge_directory(Walk(uid, true, Owner::caller).to(directory), Owner::caller, uid); });
}

Trust make_database(const std::filesystem::path& file, uid_t uid) noexcept {
  return guarded([&] {
    const Trust found = judge_database(Walk(uid, false, Owner::caller).to(file), Owner::caller, uid);
    if (found.verdict != Trust::Verdict::absent) {
      return found;
    }
    const Trust directory = judge_directory(Walk(uid, false, Owner::caller).to(file.parent_path()), Owner::caller, uid);
    if (!directory.trusted()) {
      return directory;
    }
    const auto path = directory.path / file.filename();
    // mknod makes the file without opening it: another thread may have it open in SQLite by now, and closing a
    // descriptor of it here would drop that thread's POSIX locks.
    if (::mknod(path.c_str(), S_IFREG | 0600, 0) == 0) {
      if (::chmod(path.c_str(), 0600) != 0) {
        return failed("set the mode of", path, errno, Owner::caller);
      }
    } else if (errno != EEXIST) {
      return failed("make", path, errno, Owner::caller);
    }
    return judge_database(Walk(uid, false, Owner::caller).to(path), Owner::caller, uid);
  });
}

}  // namespace kiln::cache
