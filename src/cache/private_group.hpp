#pragma once

#include <sys/types.h>

#include <filesystem>

namespace kiln::cache {

/// Where accounts are listed, in the formats of passwd(5) and group(5).
struct AccountFiles {
  std::filesystem::path users = "/etc/passwd";
  std::filesystem::path groups = "/etc/group";
};

/// Is `group` the private group of user `uid`: of the same name, and with no other member? Debian, Ubuntu and Fedora
/// give each user such a group and the umask 002, so that what they make is group-writable and still theirs alone
/// (login.defs(5), USERGROUPS_ENAB). False whenever that cannot be told: accounts that a directory service keeps are
/// not looked up, since that can take seconds. Safe from any thread.
bool is_private_group(gid_t group, uid_t uid, const AccountFiles& files = {}) noexcept;

}  // namespace kiln::cache
