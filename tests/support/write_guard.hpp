#pragma once

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::test {

/// From now on this process, and every program it becomes, is ended with SIGSYS as soon as it opens a file for writing,
/// or makes, renames, removes or changes one. Giving an open file an owner is no change: SQLite, when root runs it,
/// gives a log the owner that it has. False where that cannot be had. Never undone: for child processes.
inline bool forbid_writing() {
#ifdef __x86_64__
  constexpr std::uint32_t k_writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  const auto argument = [&load](std::size_t number) {
    return load(offsetof(seccomp_data, args) + number * sizeof(std::uint64_t));
  };
  constexpr sock_filter k_allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  constexpr sock_filter k_end{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS};
  const auto unless_equal = [](std::uint32_t value, unsigned char skip) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, skip, value};
  };

  std::vector<sock_filter> program{load(offsetof(seccomp_data, arch)),
                                   {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64},
                                   k_end,
                                   load(offsetof(seccomp_data, nr))};
  for (long call : {SYS_creat,     SYS_openat2,  SYS_mkdir,    SYS_mkdirat,   SYS_rmdir,     SYS_rename,  SYS_renameat,
                    SYS_renameat2, SYS_unlink,   SYS_unlinkat, SYS_link,      SYS_linkat,    SYS_symlink, SYS_symlinkat,
                    SYS_mknod,     SYS_mknodat,  SYS_truncate, SYS_ftruncate, SYS_fallocate, SYS_chmod,   SYS_fchmod,
                    SYS_fchmodat,  SYS_chown,    SYS_lchown,   SYS_fchownat,  SYS_utime,     SYS_utimes,  SYS_utimensat,
                    SYS_futimesat, SYS_setxattr, SYS_fsetxattr}) {
    program.push_back(unless_equal(static_cast<std::uint32_t>(call), 1));
    program.push_back(k_end);
  }
  struct Opening {
    long call;
    std::size_t flags;  ///< which argument they are
  };
  for (Opening opening : {Opening{SYS_open, 1}, Opening{SYS_openat, 2}}) {
    program.push_back(unless_equal(static_cast<std::uint32_t>(opening.call), 4));
    program.push_back(argument(opening.flags));
    program.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, k_writing});
    program.push_back(k_end);
    program.push_back(k_allow);
  }
  program.push_back(k_allow);
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
#else
  return false;
#endif
}

}  // namespace kiln::test
