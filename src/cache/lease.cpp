#include "cache/lease.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cache/filesystem.hpp"
#include "cache/wait_budget.hpp"
#include "support/fork.hpp"

// How: open-file-description locks (F_OFD_SETLK) on single bytes of one empty file per user, the byte's offset being
// a hash of cache and key. The file stays, but it is no lock: the lock is the kernel's and ends with the last
// descriptor of the open file, so with its holder. Why not
// - process-associated locks (F_SETLK): closing any descriptor of the file drops all of a process's locks;
// - abstract sockets: any user can bind the name of a key and keep everyone else waiting;
// - robust mutexes in shared memory: a damaged segment can crash whoever maps it.
// The wait polls, 0.2 ms growing to 10 ms: F_OFD_SETLKW cannot be bounded without a signal or a helper thread, which a
// library has no right to. At most 10 ms are lost against compiles of 20 ms and more, at 100 system calls a second.
namespace kiln::cache {
namespace {

constexpr auto k_first_pause = std::chrono::microseconds(200);
constexpr auto k_longest_pause = std::chrono::microseconds(10000);
constexpr std::uint64_t k_offset_mask = (std::uint64_t{1} << 62) - 1;

// Not $XDG_RUNTIME_DIR: a session has one and a system service or cron job of the same user has none, and the two
// would not see each other's leases.
constexpr std::array k_directories{"/dev/shm", "/tmp"};

/// The descriptors of this process's leases, for the child that a fork makes: there each is closed, since a lock would
/// last as long as any copy of its descriptor. Constant-initialised; a fork concerns the whole process, so there is
/// one of it.
struct Descriptors {
  std::mutex mutex;
  std::vector<int> open;
};
constinit Descriptors descriptors;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void before_fork() noexcept { descriptors.mutex.lock(); }
void after_fork_in_parent() noexcept { descriptors.mutex.unlock(); }
void after_fork_in_child() noexcept {
  for (const int descriptor : descriptors.open) {
    ::close(descriptor);
  }
  descriptors.open.clear();  // keeps its memory: a child of a threaded process must not call the allocator
  descriptors.mutex.unlock();
}

bool watch_forks() noexcept {
  static const bool watching = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  return watching;
}

bool same_file(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Opens this user's lease file in `directory`, or gives -1: for what another user made in its place, too.
int open_lease_file(const char* directory, std::string& path) {
  if (file_system_of(directory).kind == FileSystem::Kind::network) {
    return -1;
  }
  const uid_t uid = ::geteuid();
  path = std::string(directory) + "/kiln-leases-" + std::to_string(uid);
  // O_NONBLOCK: a FIFO that someone put there must not block us.
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  if (descriptor < 0) {
    return -1;
  }
  struct stat status{};
  const bool ours = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == uid;
  // Whatever the umask: nobody else may open the file, or they could hold its locks.
  if (!ours || ((status.st_mode & 07777) != 0600 && ::fchmod(descriptor, 0600) != 0)) {
    ::close(descriptor);
    return -1;
  }
  return descriptor;
}

/// Where in the file this key's locks are. Twice, so that all who mean the same cache meet in at least one byte: by
/// the directory's path, links resolved, which is known before the directory is made; and by its inode, which is the
/// same by every path that a mount gives it. Always in this order, so that no two can wait for each other.
std::vector<off_t> offsets_of(const std::filesystem::path& cache_dir, const Key& key) {
  std::vector<off_t> offsets;
  const auto add = [&](std::string identity) {
    identity += '\0' + key.text();
    offsets.push_back(static_cast<off_t>(XXH3_64bits(identity.data(), identity.size()) & k_offset_mask));
  };
  std::error_code error;
  auto canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(cache_dir, error), error);
  add("path " + (error ? cache_dir : canonical.has_filename() ? canonical : canonical.parent_path()).string());
  struct stat status{};
  if (::stat(cache_dir.c_str(), &status) == 0) {
    add("inode " + std::to_string(status.st_dev) + " " + std::to_string(status.st_ino));
  }
  return offsets;
}

enum class Attempt { locked, busy, failed };

Attempt try_lock(int descriptor, off_t offset) noexcept {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) == 0) {
    return Attempt::locked;
  }
  return errno == EAGAIN || errno == EACCES || errno == EINTR ? Attempt::busy : Attempt::failed;
}

/// Ends the locks even where a copy of the descriptor lives on, in a child made past pthread_atfork.
void unlock_and_close(int descriptor) noexcept {
  struct flock lock{};
  lock.l_type = F_UNLCK;
  lock.l_whence = SEEK_SET;
  ::fcntl(descriptor, F_OFD_SETLK, &lock);
  ::close(descriptor);
}

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds wait) noexcept
      : end_(std::chrono::steady_clock::now() + std::clamp(wait, std::chrono::milliseconds(0), k_longest_wait)) {}

  /// Sleeps a little, longer each time; false when the time is up.
  bool pause() noexcept {
    const auto left = end_ - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
      return false;
    }
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, next_));
    next_ = std::min(next_ * 2, k_longest_pause);
    return true;
  }

 private:
  std::chrono::steady_clock::time_point end_;
  std::chrono::microseconds next_ = k_first_pause;
};

/// Locks every offset of `descriptor`, waiting if others hold them.
Attempt lock_all(int descriptor, const std::vector<off_t>& offsets, Deadline& deadline, bool& waited) noexcept {
  for (const off_t offset : offsets) {
    Attempt attempt = try_lock(descriptor, offset);
    while (attempt == Attempt::busy) {
      waited = true;
      if (!deadline.pause()) {
        break;
      }
      attempt = try_lock(descriptor, offset);
    }
    if (attempt != Attempt::locked) {
      return attempt;
    }
  }
  return Attempt::locked;
}

/// Does the path still lead to the file that is open? Temporary files are cleaned up, and a lock on a file that others
/// no longer find is none.
bool is_current(int descriptor, const std::string& path) noexcept {
  struct stat ours{};
  struct stat theirs{};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &theirs) == 0 && same_file(ours, theirs);
}

/// A descriptor that is closed in children from the moment it is open.
class Registration {
 public:
  /// -1 in `descriptor()` when the file cannot be opened.
  Registration(const char* directory, std::string& path) {
    const std::lock_guard lock(descriptors.mutex);
    descriptors.open.reserve(descriptors.open.size() + 1);  // throws before there is anything to lose
    descriptor_ = open_lease_file(directory, path);
    generation_ = support::fork_generation();
    if (descriptor_ >= 0) {
      descriptors.open.push_back(descriptor_);
    }
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() { end(std::exchange(descriptor_, -1), generation_); }

  int descriptor() const noexcept { return descriptor_; }
  std::uint64_t generation() const noexcept { return generation_; }
  int release() noexcept { return std::exchange(descriptor_, -1); }

  static void end(int descriptor, std::uint64_t generation) noexcept {
    if (descriptor < 0) {
      return;
    }
    const std::lock_guard lock(descriptors.mutex);
    if (generation != support::fork_generation()) {
      return;  // this is a forked child: the descriptor was closed at the fork, its number may be another file's now
    }
    std::erase(descriptors.open, descriptor);
    unlock_and_close(descriptor);
  }

 private:
  int descriptor_ = -1;
  std::uint64_t generation_ = 0;
};

}  // namespace

std::pair<Lease, Lease::Result> Lease::acquire(const std::filesystem::path& cache_dir, const Key& key,
                                               std::chrono::milliseconds wait, bool* waited) noexcept {
  bool others_held_it = false;
  std::pair<Lease, Result> outcome{Lease(), Result::unavailable};
  try {
    const auto offsets = offsets_of(cache_dir, key);
    Deadline deadline(wait);
    const auto acquire_in = [&](const char* directory) {
      do {
        std::string path;
        Registration file(directory, path);
        if (file.descriptor() < 0) {
          return Result::unavailable;
        }
        const Attempt attempt = lock_all(file.descriptor(), offsets, deadline, others_held_it);
        if (attempt != Attempt::locked) {
          return attempt == Attempt::busy ? Result::timed_out : Result::unavailable;
        }
        if (is_current(file.descriptor(), path)) {
          const std::uint64_t generation = file.generation();
          outcome.first = Lease(file.release(), generation);
          return Result::held;
        }
      } while (deadline.pause());
      return Result::timed_out;
    };
    for (auto directory = k_directories.begin();
         directory != k_directories.end() && outcome.second == Result::unavailable; ++directory) {
      outcome.second = watch_forks() ? acquire_in(*directory) : Result::unavailable;
    }
  } catch (...) {  // out of memory: go on without
  }
  if (waited != nullptr) {
    *waited = others_held_it;
  }
  return outcome;
}

Lease::Lease(Lease&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), generation_(other.generation_) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    descriptor_ = std::exchange(other.descriptor_, -1);
    generation_ = other.generation_;
  }
  return *this;
}

Lease::~Lease() { release(); }

void Lease::release() noexcept { Registration::end(std::exchange(descriptor_, -1), generation_); }

}  // namespace kiln::cache
