#include "cache/filesystem.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace kiln::cache {
namespace {

using Kind = FileSystem::Kind;

struct Known {
  std::uint64_t magic;
  const char* name;
  Kind kind;
};

// linux/magic.h where the kernel names them, the vendors' sources otherwise.
constexpr std::array k_known{
    Known{0xEF53, "ext4", Kind::local},         Known{0x58465342, "xfs", Kind::local},
    Known{0x9123683E, "btrfs", Kind::local},    Known{0x01021994, "tmpfs", Kind::local},
    Known{0x858458F6, "ramfs", Kind::local},    Known{0x794C7630, "overlayfs", Kind::local},
    Known{0x61756673, "aufs", Kind::local},     Known{0x2FC12FC1, "zfs", Kind::local},
    Known{0xF2F52010, "f2fs", Kind::local},     Known{0xCA451A4E, "bcachefs", Kind::local},
    Known{0x3153464A, "jfs", Kind::local},      Known{0x52654973, "reiserfs", Kind::local},
    Known{0x3434, "nilfs", Kind::local},        Known{0xF15F, "ecryptfs", Kind::local},
    Known{0x7366746E, "ntfs3", Kind::local},    Known{0x2011BAB0, "exfat", Kind::local},
    Known{0x4D44, "vfat", Kind::local},         Known{0x73717368, "squashfs", Kind::local},
    Known{0xE0F5E1E2, "erofs", Kind::local},    Known{0x9660, "iso9660", Kind::local},
    Known{0x6969, "nfs", Kind::network},        Known{0x517B, "smb", Kind::network},
    Known{0xFE534D42, "smb2", Kind::network},   Known{0xFF534D42, "cifs", Kind::network},
    Known{0x0BD00BD0, "lustre", Kind::network}, Known{0x47504653, "gpfs", Kind::network},
    Known{0x19830326, "beegfs", Kind::network}, Known{0x00C36400, "ceph", Kind::network},
    Known{0xAAD7AAEA, "panfs", Kind::network},  Known{0x20030528, "orangefs", Kind::network},
    Known{0x7461636F, "ocfs2", Kind::network},  Known{0x01161970, "gfs2", Kind::network},
    Known{0x5346414F, "afs", Kind::network},    Known{0x6B414653, "afs", Kind::network},
    Known{0x73757245, "coda", Kind::network},   Known{0x564C, "ncp", Kind::network},
    Known{0xBEEFDEAD, "snfs", Kind::network},   Known{0x61636673, "acfs", Kind::network},
    Known{0x013111A8, "ibrix", Kind::network},  Known{0x786F4256, "vboxsf", Kind::network},
    Known{0xBACBACBC, "vmhgfs", Kind::network}, Known{0x01021997, "9p", Kind::network},
    Known{0x65735546, "fuse", Kind::network},
};

FileSystem unknown(std::string name, const std::string& why) {
  return {Kind::unknown, std::move(name), JournalMode::rollback,
          why + ": a rollback journal, which is right on any file system with locks"};
}

}  // namespace

FileSystem file_system_of_magic(std::uint64_t magic) {
  const auto known = std::ranges::find(k_known, magic, &Known::magic);
  if (known == k_known.end()) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "0x%llX", static_cast<unsigned long long>(magic));
    return unknown(text.data(), std::string("Kiln does not know file system ") + text.data());
  }
  const std::string name = known->name;
  if (known->kind == Kind::local) {
    return {Kind::local, name, JournalMode::wal,
            name + " is local: a write-ahead log, so that readers never wait for a writer"};
  }
  return {Kind::network, name, JournalMode::rollback,
          name + (name == "fuse" ? " may be remote (sshfs, object storage)" : " is shared between hosts") +
              ", which a write-ahead log's shared memory does not survive: a rollback journal"};
}

FileSystem file_system_of(const std::filesystem::path& path) noexcept {
  try {
    std::error_code error;
    auto place = std::filesystem::absolute(path, error);
    struct statfs status{};
    while (::statfs(place.c_str(), &status) != 0) {
      if ((errno != ENOENT && errno != ENOTDIR) || !place.has_relative_path()) {
        return unknown("unknown",
                       "'" + place.string() + "' cannot be examined (" + std::generic_category().message(errno) + ")");
      }
      place = place.parent_path();
    }
    // The type of f_type differs between systems and may be signed: keep its 32 bits.
    return file_system_of_magic(static_cast<std::uint32_t>(status.f_type));
  } catch (...) {  // out of memory
    return {};
  }
}

}  // namespace kiln::cache
