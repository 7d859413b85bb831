// Processes and threads that use one cache in every way at once and are killed and stopped at random; afterwards what
// is left must be sound. Run by hand for longer: cache_stress 600.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/layered_store.hpp"
#include "kiln/error.hpp"
#include "kiln/maintenance.hpp"
#include "support/raw_database.hpp"
#include "support/sample_artifact.hpp"
#include "support/temp_dir.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

constexpr int k_processes = 6;
constexpr int k_threads = 2;  // a process
constexpr std::uint64_t k_numbers = 300;
constexpr std::size_t k_image_bytes = 6000;
constexpr std::uint64_t k_max_bytes = 1200000;  // about half of all: evictions are common

/// Shared by all processes. What must not happen comes first.
struct Board {
  std::atomic<std::uint64_t> wrong_artifacts;
  std::atomic<std::uint64_t> exceptions;  // of calls that never throw
  std::atomic<std::uint64_t> damaged_rows;
  std::atomic<std::uint64_t> corrupt_dropped;

  std::atomic<std::uint64_t> hits;
  std::atomic<std::uint64_t> misses;
  std::atomic<std::uint64_t> puts;
  std::atomic<std::uint64_t> puts_lost;
  std::atomic<std::uint64_t> trims;
  std::atomic<std::uint64_t> verifies;
  std::atomic<std::uint64_t> clears;
  std::atomic<std::uint64_t> transfers;
  std::atomic<std::uint64_t> store_errors;  // of calls that may throw, e.g. a busy database
  std::atomic<std::uint64_t> kills;
  std::atomic<std::uint64_t> stops;
};

std::uint64_t up_to(Random& random, std::uint64_t bound) {
  return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random);
}

class Worker {
 public:
  Worker(const kiln::ServiceOptions& options, const std::filesystem::path& exchange, Board& board)
      : options_(options), exchange_(exchange), board_(board) {}

  void work(kiln::cache::LayeredStore& store, Random random, Clock::time_point end) {
    while (Clock::now() < end) {
      try {
        step(store, random);
      } catch (const std::exception& error) {
        ++board_.exceptions;
        std::fprintf(stderr, "exception: %s\n", error.what());
      }
    }
  }

 private:
  void step(kiln::cache::LayeredStore& store, Random& random) {
    const auto dice = up_to(random, 1000);
    if (dice < 700) {
      get_or_put(store, 1 + up_to(random, k_numbers));
    } else if (dice < 960) {
      store.put(kiln::test::sample_artifact(1 + up_to(random, k_numbers), k_image_bytes)) ? ++board_.puts
                                                                                          : ++board_.puts_lost;
    } else {
      maintain(store, dice);
    }
  }

  void get_or_put(kiln::cache::LayeredStore& store, std::uint64_t number) {
    const auto wanted = kiln::test::sample_artifact(number, k_image_bytes);
    const auto hit = store.get(wanted.key, wanted.spec, [&] { return wanted.compiler; });
    if (!hit) {
      ++board_.misses;
      store.put(wanted) ? ++board_.puts : ++board_.puts_lost;
      return;
    }
    ++board_.hits;
    if (!kiln::test::same_artifact(hit->artifact, wanted)) {
      ++board_.wrong_artifacts;
    }
  }

  void maintain(kiln::cache::LayeredStore& store, std::uint64_t dice) {
    try {
      if (dice < 975) {
        kiln::trim(options_, {.max_bytes = k_max_bytes / 3});
        ++board_.trims;
      } else if (dice < 990) {
        board_.damaged_rows += kiln::verify(options_, dice % 2 == 0).damage.size();
        ++board_.verifies;
      } else if (dice < 993) {
        store.clear();
        ++board_.clears;
      } else {
        const auto file = exchange_ / (std::to_string(::getpid()) + "." + std::to_string(dice) + ".kilnpack");
        kiln::export_cache(options_, file);
        kiln::import_cache(options_, {file});
        ++board_.transfers;
      }
    } catch (const kiln::StoreError&) {
      ++board_.store_errors;
    }
  }

  const kiln::ServiceOptions& options_;
  const std::filesystem::path& exchange_;
  Board& board_;
};

[[noreturn]] void run_process(const kiln::ServiceOptions& options, const std::filesystem::path& exchange, Board& board,
                              std::uint64_t seed, Clock::time_point end) {
  {
    kiln::cache::LayeredStore store(options);
    std::vector<std::thread> threads;
    for (int i = 0; i < k_threads; ++i) {
      threads.emplace_back([&, i] {
        Worker(options, exchange, board).work(store, Random(seed * k_threads + static_cast<unsigned>(i)), end);
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    kiln::Stats stats;
    store.fill(stats);
    board.corrupt_dropped += stats.corrupt_dropped;
  }
  std::_Exit(0);
}

class Processes {
 public:
  Processes(const kiln::ServiceOptions& options, const std::filesystem::path& exchange, Board& board, Random random,
            Clock::time_point end)
      : options_(options), exchange_(exchange), board_(board), random_(random), end_(end) {
    for (auto& pid : pids_) {
      pid = start();
    }
  }

  void torment() {
    while (Clock::now() < end_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + up_to(random_, 150)));
      auto& pid = pids_[up_to(random_, pids_.size())];
      if (up_to(random_, 3) == 0) {
        ::kill(pid, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(up_to(random_, 120)));
        ::kill(pid, SIGCONT);
        ++board_.stops;
        continue;
      }
      end(pid);
      pid = start();
    }
    // Some in the middle of what they do, the others in peace.
    for (std::size_t i = 0; i < pids_.size(); ++i) {
      if (i % 2 == 0) {
        end(pids_[i]);
      } else if (!exits(pids_[i])) {
        ++board_.exceptions;
      }
    }
  }

 private:
  pid_t start() {
    const auto seed = random_();
    const pid_t pid = ::fork();
    if (pid == 0) {
      run_process(options_, exchange_, board_, seed, end_);
    }
    return pid;
  }
  void end(pid_t pid) {
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
      ++board_.exceptions;  // it had crashed before
    }
    ++board_.kills;
  }
  static bool exits(pid_t pid) {
    int status = 0;
    return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  const kiln::ServiceOptions& options_;
  const std::filesystem::path& exchange_;
  Board& board_;
  Random random_;
  Clock::time_point end_;
  std::array<pid_t, k_processes> pids_{};
};

/// What survives: every row verifies, and the database is whole.
bool is_sound(const kiln::ServiceOptions& options, Board& board) {
  const auto result = kiln::verify(options);
  for (const auto& damage : result.damage) {
    std::printf("damaged: %s\n", damage.problem.c_str());
  }
  const auto integrity = kiln::test::RawDatabase(*options.cache_dir / "kiln.db").integrity();
  kiln::cache::LayeredStore store(options);
  std::uint64_t found = 0;
  for (std::uint64_t number = 1; number <= k_numbers; ++number) {
    const auto wanted = kiln::test::sample_artifact(number, k_image_bytes);
    const auto hit = store.get(wanted.key, wanted.spec, [&] { return wanted.compiler; });
    found += hit ? 1 : 0;
    if (hit && !kiln::test::same_artifact(hit->artifact, wanted)) {
      ++board.wrong_artifacts;
    }
  }
  std::printf("afterwards: %llu rows, %llu found, integrity_check %s\n",
              static_cast<unsigned long long>(result.checked), static_cast<unsigned long long>(found),
              integrity.c_str());
  return result.damage.empty() && integrity == "ok" && found == result.checked;
}

void report(const char* name, const std::atomic<std::uint64_t>& count) {
  std::printf("%-16s %llu\n", name, static_cast<unsigned long long>(count.load()));
}

void report(const Board& board) {
  report("hits", board.hits);
  report("misses", board.misses);
  report("puts", board.puts);
  report("puts lost", board.puts_lost);
  report("trims", board.trims);
  report("verifies", board.verifies);
  report("clears", board.clears);
  report("exports, imports", board.transfers);
  report("store errors", board.store_errors);
  report("kills", board.kills);
  report("stops", board.stops);
  report("wrong artifacts", board.wrong_artifacts);
  report("exceptions", board.exceptions);
  report("damaged rows", board.damaged_rows);
  report("corrupt dropped", board.corrupt_dropped);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string journal = argc > 3 ? argv[3] : "wal";
  if (argc < 2 || argc > 4 || (journal != "wal" && journal != "delete")) {
    std::fprintf(stderr, "cache_stress SECONDS [SEED [wal|delete]]\n");
    return 2;
  }
  const auto seconds = std::chrono::seconds(std::strtol(argv[1], nullptr, 10));
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  std::printf("seed %llu, %d processes of %d threads, %lld s, journal %s\n", static_cast<unsigned long long>(seed),
              k_processes, k_threads, static_cast<long long>(seconds.count()), journal.c_str());
  std::fflush(stdout);  // else every child prints it again

  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  auto& board = *new (memory) Board{};
  const kiln::test::TempDir directory;
  kiln::ServiceOptions options;
  options.cache_dir = directory / "cache";
  options.max_bytes = k_max_bytes;
  options.busy_wait = 5s;

  if (!kiln::cache::LayeredStore(options).put(kiln::test::sample_artifact(1, k_image_bytes))) {
    std::fprintf(stderr, "%s cannot be written\n", options.cache_dir->c_str());
    return 1;
  }
  kiln::test::RawDatabase(*options.cache_dir / "kiln.db").text("PRAGMA journal_mode = " + journal);

  Processes(options, directory.path(), board, Random(seed), Clock::now() + seconds).torment();

  const bool sound = is_sound(options, board);
  report(board);
  const bool clean = board.wrong_artifacts == 0 && board.exceptions == 0 && board.damaged_rows == 0 &&
                     board.corrupt_dropped == 0 && board.hits > 0 && board.puts > 0 && board.kills > 0;
  std::printf("%s\n", sound && clean ? "sound" : "NOT SOUND");
  return sound && clean ? 0 : 1;
}
