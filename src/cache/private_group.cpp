#include "cache/private_group.hpp"

#include <grp.h>
#include <pwd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "support/unique_handle.hpp"

namespace kiln::cache {
namespace {

struct FileTraits {
  using Type = std::FILE*;
  static Type invalid() noexcept { return nullptr; }
  static void close(Type file) noexcept { std::fclose(file); }
};
using File = support::UniqueHandle<FileTraits>;

using Line = std::array<char, std::size_t{16} * 1024>;

/// Reads entry after entry until `visit` says no. Was the file read to its end?
template <typename Entry, typename Read, typename Visit>
bool each_entry(const std::filesystem::path& path, Read&& read, Visit&& visit) {
  const File file(std::fopen(path.c_str(), "re"));
  if (!file) {
    return false;
  }
  Line line;
  Entry entry{};
  Entry* found = nullptr;
  int error = 0;
  while ((error = read(file.get(), &entry, line.data(), line.size(), &found)) == 0) {
    if (!visit(entry)) {
      return false;
    }
  }
  return error == ENOENT;  // the end; anything else (a line too long, say) leaves entries unseen
}

/// The name of user `uid` if it has the group as its primary one and no other user has; else empty.
std::string sole_user(gid_t group, uid_t uid, const std::filesystem::path& users) {
  std::string name;
  const bool alone = each_entry<passwd>(users, ::fgetpwent_r, [&](const passwd& user) {
    if (user.pw_gid != group) {
      return true;
    }
    name = user.pw_name;
    return user.pw_uid == uid;
  });
  return alone ? name : std::string();
}

bool is_of_user(const struct group& entry, const std::string& user) {
  for (char** member = entry.gr_mem; *member != nullptr; ++member) {
    if (user != *member) {
      return false;
    }
  }
  return user == entry.gr_name;
}

}  // namespace

bool is_private_group(gid_t group, uid_t uid, const AccountFiles& files) noexcept {
  try {
    const std::string user = sole_user(group, uid, files.users);
    bool found = false;
    const bool private_to_user =
        !user.empty() && each_entry<struct group>(files.groups, ::fgetgrent_r, [&](const struct group& entry) {
          found = found || entry.gr_gid == group;
          return entry.gr_gid != group || is_of_user(entry, user);
        });
    return private_to_user && found;
  } catch (...) {
    return false;  // out of memory
  }
}

}  // namespace kiln::cache
