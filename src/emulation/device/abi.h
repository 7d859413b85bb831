#pragma once

// What the library and a kernel compiled for the host know of each other. Read by both compilers, so it includes
// nothing; the two are always built from the same file, so it has no version.
namespace kiln_emulation {

struct Index3 {
  unsigned x, y, z;
};

/// Where a call stands in the kernel's source.
struct Site {
  const char* file;
  unsigned line;

  /// As a default argument: the place of the call.
  static constexpr Site here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

enum class Barrier { plain, count, any, all };

/// The dynamic shared memory is this large: the most that a launch may ask for, and a guard behind it.
constexpr unsigned k_max_shared_bytes = 227 * 1024;
constexpr unsigned k_shared_guard_bytes = 4096;

/// What a value that no lane gave reads as, byte by byte; also what shared memory holds when a block starts.
constexpr unsigned char k_garbage = 0xDB;

/// Calls from a kernel into the library; `runner` is the block runner of the launch under way.
struct Hooks {
  void* runner;
  /// Waits for the block; gives the number of threads with a predicate, or whether any or all have one.
  int (*barrier)(void* runner, Barrier kind, int predicate, Site site);
  /// Waits for the lanes of `mask`; gives what each lane gave, in 32 values, and the mask of lanes that took part.
  const unsigned long long* (*exchange)(void* runner, unsigned mask, unsigned long long value, const char* call,
                                        Site site);
  /// Lanes of the caller's warp that have not returned.
  unsigned (*active_lanes)(void* runner);
  /// Ends the launch with an error; does not return.
  void (*fail)(void* runner, const char* message, Site site);
};

/// One kernel: how to call it for the current thread, and its parameters' sizes.
struct Entry {
  void (*run)(void** arguments);
  const unsigned* sizes;
  unsigned count;
};

/// The one symbol that the library looks up: kiln_emulation_module.
struct Module {
  Hooks* hooks;
  Index3* thread_index;
  Index3* block_index;
  Index3* block_dim;
  Index3* grid_dim;
  Index3* cluster_dim;
  unsigned char* dynamic_shared;
  unsigned char* static_shared_begin;  ///< equal to the end where the compiler cannot gather it
  unsigned char* static_shared_end;
  const Entry* entries;
  unsigned entry_count;
};

}  // namespace kiln_emulation
