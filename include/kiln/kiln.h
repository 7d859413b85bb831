/* Kiln's C API: kernel templates with values written in, compiled once, cached, launched. C99 and newer.

   Conventions:

   (1) Ownership. `kiln_X_create`, and every function that gives an object through `kiln_X** out`, gives one that the
       caller ends with `kiln_X_free`. Freeing NULL does nothing. Objects may be freed in any order: what one needs of
       another it keeps. On failure `*out` is NULL.

   (2) Strings end with NUL. They are UTF-8, which is checked, but for the names of files, which are passed on as they
       are. Those that go in are copied. Those that come out belong to the object they were asked of and live as long as
       it does. Arguments must not be NULL unless it is said that they may be: NULL elsewhere is KILN_INVALID_ARGUMENT,
       and so is an empty name of a file or folder.

   (3) Errors. What can fail returns a status and takes, last, the address of a `kiln_error*`, or NULL if the caller
       does not care. On failure it gives an error object, which the caller frees; on success it gives NULL. No C++
       exception leaves this API, and the library never prints, aborts or exits.

   (4) Threads. Options, values and errors belong to one thread at a time. Services, templates, kernels, permutations
       and artifacts may be used from any thread, several at once.

   (5) Versions. Structs begin with their size: set it to sizeof before the call; a newer library reads and writes no
       more than that. Numbers of enums never change; new ones may be added. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kiln/export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_VERSION_MAJOR 0
#define KILN_VERSION_MINOR 1
#define KILN_VERSION_PATCH 0

/* "0.1.0": of the library in use, which may be newer than this header. */
KILN_EXPORT const char* kiln_version(void);

/* ---- Errors ---- */

/* What an enum holds may be a number of a newer or older version: in C++ too, any int is a value of it. */
#ifdef __cplusplus
#define KILN_ENUM_TYPE : int
#else
#define KILN_ENUM_TYPE
#endif

typedef enum kiln_status KILN_ENUM_TYPE {
  KILN_OK = 0,
  KILN_INVALID_ARGUMENT = 1,   /* a value handed to Kiln cannot be used */
  KILN_TEMPLATE_INVALID = 2,   /* a template's declarations, or the values given for them, do not fit */
  KILN_COMPILE_FAILED = 3,     /* NVRTC refused the source: see kiln_error_log */
  KILN_UNSUPPORTED_TARGET = 4, /* the compiler or the device cannot serve the target */
  KILN_FILE_UNREADABLE = 5,    /* a file named by the caller is missing, unreadable or malformed */
  KILN_NVRTC_UNAVAILABLE = 6,  /* no NVRTC library could be opened */
  KILN_DRIVER_UNAVAILABLE = 7, /* no CUDA driver library could be opened */
  KILN_NO_DEVICE = 8,          /* no GPU, or no current context */
  KILN_DRIVER_FAILED = 9,      /* a driver call failed */
  KILN_STORE_FAILED = 10,      /* a cache or pack operation asked for by name failed */
  KILN_STRICT_MISS = 11,       /* strict mode: the kernel is in no layer */
  KILN_CAPTURE_ACTIVE = 12,    /* the kernel would have to be loaded while a stream is being captured */
  KILN_HOST_COMPILER = 13,     /* the host compiler that emulation needs is missing or failed */
  KILN_OUT_OF_MEMORY = 14,
  KILN_INTERNAL = 15 /* anything else; a bug in Kiln */
} kiln_status;

/* "invalid_argument", … */
KILN_EXPORT const char* kiln_status_name(kiln_status status);

typedef struct kiln_error kiln_error;
KILN_EXPORT kiln_status kiln_error_code(const kiln_error* error);
/* What went wrong, with which value, and what to do. */
KILN_EXPORT const char* kiln_error_message(const kiln_error* error);
/* KILN_COMPILE_FAILED: the compiler's whole log; from kiln_precompile: of every kernel that failed. Else "". */
KILN_EXPORT const char* kiln_error_log(const kiln_error* error);
KILN_EXPORT void kiln_error_free(kiln_error* error);

/* ---- Options of a service ---- */

typedef enum kiln_cache_mode KILN_ENUM_TYPE {
  KILN_CACHE_READ_WRITE = 0,
  KILN_CACHE_READ_ONLY = 1,
  KILN_CACHE_OFF = 2
} kiln_cache_mode;
typedef enum kiln_log_level KILN_ENUM_TYPE {
  KILN_LOG_DEBUG = 0,
  KILN_LOG_INFO = 1,
  KILN_LOG_WARNING = 2
} kiln_log_level;
/* May be called from any thread, also several at once; must not call Kiln. `message` lives for the call. */
typedef void (*kiln_log_callback)(void* context, kiln_log_level level, const char* message);

typedef struct kiln_options kiln_options;
/* The defaults, changed by the KILN_ variables of the environment. */
KILN_EXPORT kiln_status kiln_options_create(kiln_options** out, kiln_error** error);
KILN_EXPORT void kiln_options_free(kiln_options* options);
/* `directory` may be NULL: memory only. */
KILN_EXPORT kiln_status kiln_options_set_cache_dir(kiln_options* options, const char* directory, kiln_error** error);
KILN_EXPORT kiln_status kiln_options_set_cache_mode(kiln_options* options, kiln_cache_mode mode, kiln_error** error);
/* Cap on the user database; 0: none. */
KILN_EXPORT kiln_status kiln_options_set_max_bytes(kiln_options* options, uint64_t bytes, kiln_error** error);
/* Adds a pack, looked in after those added before it. */
KILN_EXPORT kiln_status kiln_options_add_pack(kiln_options* options, const char* file, kiln_error** error);
/* Not 0: never compile; a miss is KILN_STRICT_MISS. */
KILN_EXPORT kiln_status kiln_options_set_strict(kiln_options* options, int strict, kiln_error** error);
/* The NVRTC library file to use, and no other. `file` may be NULL: look in the usual places. */
KILN_EXPORT kiln_status kiln_options_set_nvrtc(kiln_options* options, const char* file, kiln_error** error);
/* `callback` may be NULL: no log. */
KILN_EXPORT kiln_status kiln_options_set_log(kiln_options* options, kiln_log_callback callback, void* context,
                                             kiln_error** error);

/* ---- Values for a template's parameters ---- */

typedef struct kiln_values kiln_values;
KILN_EXPORT kiln_status kiln_values_create(kiln_values** out, kiln_error** error);
KILN_EXPORT void kiln_values_free(kiln_values* values);
/* Each sets or replaces the value called `name`. Whether it fits the template is told when it is asked for. Lists may
   be NULL when `count` is 0. */
KILN_EXPORT kiln_status kiln_values_set_bool(kiln_values* values, const char* name, int value, kiln_error** error);
KILN_EXPORT kiln_status kiln_values_set_int(kiln_values* values, const char* name, int64_t value, kiln_error** error);
KILN_EXPORT kiln_status kiln_values_set_uint(kiln_values* values, const char* name, uint64_t value, kiln_error** error);
KILN_EXPORT kiln_status kiln_values_set_real(kiln_values* values, const char* name, double value, kiln_error** error);
/* A C++ type as the template would write it: "float", "uint4". */
KILN_EXPORT kiln_status kiln_values_set_type(kiln_values* values, const char* name, const char* type,
                                             kiln_error** error);
KILN_EXPORT kiln_status kiln_values_set_code(kiln_values* values, const char* name, const char* code,
                                             kiln_error** error);
KILN_EXPORT kiln_status kiln_values_set_int_list(kiln_values* values, const char* name, const int64_t* list,
                                                 size_t count, kiln_error** error);
KILN_EXPORT kiln_status kiln_values_set_uint_list(kiln_values* values, const char* name, const uint64_t* list,
                                                  size_t count, kiln_error** error);
KILN_EXPORT kiln_status kiln_values_set_real_list(kiln_values* values, const char* name, const double* list,
                                                  size_t count, kiln_error** error);

/* ---- Templates ---- */

typedef struct kiln_template_options {
  size_t size;                     /* sizeof(kiln_template_options) */
  const char* const* include_dirs; /* searched, in order, for headers the template includes */
  size_t include_dir_count;
  const char* const* options; /* further NVRTC options; include paths are refused */
  size_t option_count;
  const char* const* entries; /* kernels as C++ name expressions; none: those the template declares */
  size_t entry_count;
} kiln_template_options;

typedef struct kiln_template kiln_template;
/* `options` may be NULL in all three. */
KILN_EXPORT kiln_status kiln_template_from_file(const char* path, const kiln_template_options* options,
                                                kiln_template** out, kiln_error** error);
KILN_EXPORT kiln_status kiln_template_from_text(const char* name, const char* text,
                                                const kiln_template_options* options, kiln_template** out,
                                                kiln_error** error);
/* One that ships inside the library. */
KILN_EXPORT kiln_status kiln_template_builtin(const char* name, const kiln_template_options* options,
                                              kiln_template** out, kiln_error** error);
KILN_EXPORT void kiln_template_free(kiln_template* tmpl);

/* ---- Services ----
   Targets are "sm_90", "sm_90a", "compute_90" or "native"; NULL is "native": the device of the calling thread's current
   context. `values` may be NULL: none. */

typedef struct kiln_service kiln_service;
typedef struct kiln_kernel kiln_kernel;
typedef struct kiln_artifact kiln_artifact;
typedef struct kiln_permutation kiln_permutation;

/* `options` may be NULL: those of the environment. Touches no disk, no driver and no compiler. */
KILN_EXPORT kiln_status kiln_service_create(const kiln_options* options, kiln_service** out, kiln_error** error);
KILN_EXPORT void kiln_service_free(kiln_service* service);

/* The template's first kernel, loaded in the calling thread's current context; compiled if no layer has it. */
KILN_EXPORT kiln_status kiln_service_get(const kiln_service* service, const kiln_template* tmpl,
                                         const kiln_values* values, const char* target, kiln_kernel** out,
                                         kiln_error** error);
/* The artifact alone: needs no driver and no GPU, unless the target is native. */
KILN_EXPORT kiln_status kiln_service_find_or_compile(const kiln_service* service, const kiln_template* tmpl,
                                                     const kiln_values* values, const char* target, kiln_artifact** out,
                                                     kiln_error** error);
/* The same without compiling. A miss is KILN_OK, with `*out` NULL. */
KILN_EXPORT kiln_status kiln_service_find(const kiln_service* service, const kiln_template* tmpl,
                                          const kiln_values* values, const char* target, kiln_artifact** out,
                                          kiln_error** error);
/* Removes every entry of the user cache. `removed` (their number) may be NULL. */
KILN_EXPORT kiln_status kiln_service_clear(const kiln_service* service, uint64_t* removed, kiln_error** error);

typedef struct kiln_stats {
  size_t size; /* sizeof(kiln_stats) */
  uint64_t memory_hits;
  uint64_t hits;   /* artifacts found in a layer */
  uint64_t misses; /* artifacts found in none */
  uint64_t compiles;
  uint64_t compile_failures;
  uint64_t puts;
  uint64_t puts_lost;       /* compiled, returned, but not written */
  uint64_t corrupt_dropped; /* rows or databases found damaged */
  uint64_t evicted;
  uint64_t degraded; /* layers left out now */
  uint64_t entries;  /* of all layers */
  uint64_t bytes;    /* of all layers' files */
  uint64_t max_bytes;
  uint64_t loaded; /* kernels loaded now */
} kiln_stats;
KILN_EXPORT kiln_status kiln_service_stats(const kiln_service* service, kiln_stats* stats, kiln_error** error);

/* ---- Kernels ---- */

typedef struct kiln_launch {
  size_t size;           /* sizeof(kiln_launch) */
  uint32_t grid[3];      /* blocks; 0 counts as 1 */
  uint32_t block[3];     /* threads a block; 0 counts as 1 */
  uint32_t cluster[3];   /* blocks a cluster; 0 counts as 1; more needs sm_90 */
  uint32_t shared_bytes; /* dynamic shared memory a block */
  void* stream;          /* a CUstream or cudaStream_t; NULL: the default stream */
  uint32_t cooperative;  /* not 0: all blocks run at the same time, so that they may wait for each other */
} kiln_launch;

/* The address of a value, for the length of the call, and its size in bytes. */
typedef struct kiln_argument {
  const void* address;
  size_t size;
} kiln_argument;
#define KILN_ARGUMENT(value) {&(value), sizeof(value)}

/* Asynchronous. A wrong number or size of arguments is told before anything is launched, where the driver knows
   (12.4 and newer). `arguments` may be NULL when `count` is 0. */
KILN_EXPORT kiln_status kiln_kernel_launch(const kiln_kernel* kernel, const kiln_launch* launch,
                                           const kiln_argument* arguments, size_t count, kiln_error** error);
/* Raises the limit for dynamic shared memory: once, before the first launch with more than 48 KiB. */
KILN_EXPORT kiln_status kiln_kernel_allow_shared_bytes(const kiln_kernel* kernel, uint32_t bytes, kiln_error** error);
/* The CUfunction; valid while `kernel` is not freed. */
KILN_EXPORT void* kiln_kernel_function(const kiln_kernel* kernel);
KILN_EXPORT void kiln_kernel_free(kiln_kernel* kernel);

/* ---- Artifacts ---- */

typedef enum kiln_outcome KILN_ENUM_TYPE {
  KILN_OUTCOME_COMPILED = 0,
  KILN_OUTCOME_MEMORY = 1,
  KILN_OUTCOME_DISK = 2,
  KILN_OUTCOME_PACK = 3
} kiln_outcome;
typedef enum kiln_image_kind KILN_ENUM_TYPE { KILN_IMAGE_CUBIN = 0, KILN_IMAGE_PTX = 1 } kiln_image_kind;

/* Pointers live as long as the artifact. */
typedef struct kiln_artifact_info {
  size_t size;     /* sizeof(kiln_artifact_info) */
  const char* key; /* 32 hex digits */
  const char* template_name;
  const char* target;
  const char* compiler; /* "nvrtc 13.0.88" */
  const char* spec;     /* what the key is the hash of */
  const char* ptx;      /* "" if the compiler gave none */
  const char* log;      /* the compiler's warnings */
  const void* image;
  size_t image_bytes;
  size_t entry_count;
  double compile_ms;
  double lookup_us;
  kiln_image_kind kind;
  kiln_outcome outcome;
} kiln_artifact_info;

/* One kernel of an artifact. Pointers live as long as the artifact. */
typedef struct kiln_entry_info {
  size_t size;            /* sizeof(kiln_entry_info) */
  const char* expression; /* as requested: "scale<float>" */
  const char* lowered;    /* the symbol in the image */
  int64_t spill_bytes;
  int64_t shared_bytes;
  int64_t local_bytes;
  int32_t registers;
} kiln_entry_info;

KILN_EXPORT kiln_status kiln_artifact_describe(const kiln_artifact* artifact, kiln_artifact_info* info,
                                               kiln_error** error);
/* `index` is below `entry_count`. */
KILN_EXPORT kiln_status kiln_artifact_entry(const kiln_artifact* artifact, size_t index, kiln_entry_info* info,
                                            kiln_error** error);
KILN_EXPORT void kiln_artifact_free(kiln_artifact* artifact);

/* ---- Fixed permutations: y[o, j, i] = x[o, indices[j], i] ---- */

/* A constant array of float that an expression may use by its name. */
typedef struct kiln_ending_list {
  const char* name;
  const float* numbers;
  size_t count;
} kiln_ending_list;

/* What is done to each element on its way. Types are f16, bf16, f32, f64, e4m3, e5m2, i8, u8, i16, u16, i32 and u32;
   kiln::PermuteEnding says how numbers are converted. */
typedef struct kiln_permutation_ending {
  size_t size;            /* sizeof(kiln_permutation_ending) */
  const char* from;       /* elements of x */
  const char* to;         /* elements of y */
  const char* expression; /* of CUDA C++, over `value`, `position` and the lists: "value * scale[position]"; NULL: the
                             value as it is */
  const kiln_ending_list* lists;
  size_t list_count;
} kiln_permutation_ending;

typedef struct kiln_permutation_request {
  size_t size;            /* sizeof(kiln_permutation_request) */
  const int64_t* indices; /* one for each output position */
  size_t count;
  uint64_t source_size;    /* positions of a row of x; 0: as many as `count`, and `indices` must be a permutation */
  uint64_t inner;          /* elements that move together; 0 counts as 1 */
  uint64_t typical_rows;   /* about how many rows one launch moves; 0: many */
  uint32_t element_bytes;  /* 1, 2, 4, 8 or 16 */
  const char* strategy;    /* "direct", "staged", "tiled", "bucketed", "rows" or "elements": instead of the choice.
                              One that cannot move these indices is KILN_INVALID_ARGUMENT. NULL or "automatic": what is
                              expected to be fastest */
  uint64_t row_stride_in;  /* elements from a row of x to the next; 0: rows are dense */
  uint64_t row_stride_out; /* the same of y */
  int in_place;            /* not 0: y is x. For permutations whose rows fit in the shared memory of a block */
  const kiln_permutation_ending* ending; /* NULL: elements are moved as they are. Else element_bytes and row_stride_in
                                            are of its `from`, row_stride_out of its `to` */
} kiln_permutation_request;

/* Ready to run in the calling thread's current context. */
KILN_EXPORT kiln_status kiln_service_get_permutation(const kiln_service* service,
                                                     const kiln_permutation_request* request, const char* target,
                                                     kiln_permutation** out, kiln_error** error);
/* The same with the strategy that was measured fastest on the current context's device, by this process or an earlier
   one with the same user cache. The first time it measures: some ten milliseconds and a compile or two more, with up to
   1 GiB of device memory meanwhile, more only if a single row takes more. While a stream is being captured that is
   KILN_CAPTURE_ACTIVE. */
KILN_EXPORT kiln_status kiln_service_tune_permutation(const kiln_service* service,
                                                      const kiln_permutation_request* request, const char* target,
                                                      kiln_permutation** out, kiln_error** error);
/* The artifact alone, for a target other than native: needs no driver and no GPU. */
KILN_EXPORT kiln_status kiln_service_compile_permutation(const kiln_service* service,
                                                         const kiln_permutation_request* request, const char* target,
                                                         kiln_artifact** out, kiln_error** error);
/* Moves `rows` rows, asynchronously on `stream` (may be NULL). Device pointers; x and y must not overlap, but rows of
   the same stride may lie between each other's; in place they must be the same. Rows too long for shared memory are
   moved through scratch memory, which is allocated and freed in the stream's order. */
KILN_EXPORT kiln_status kiln_permutation_launch(const kiln_permutation* permutation, void* y, const void* x,
                                                uint64_t rows, void* stream, kiln_error** error);
/* The same with device memory of the caller's, aligned to 16 bytes and apart from x and y, that the launch may use
   until it is done: nothing is allocated. Less than kiln_permutation_scratch_bytes(permutation, rows) is slower; less
   than kiln_permutation_scratch_bytes(permutation, 1) is KILN_INVALID_ARGUMENT. */
KILN_EXPORT kiln_status kiln_permutation_launch_with_scratch(const kiln_permutation* permutation, void* y,
                                                             const void* x, uint64_t rows, void* scratch,
                                                             uint64_t scratch_bytes, void* stream, kiln_error** error);
/* Bytes of scratch memory with which `rows` rows are moved at full speed; 0 when none is needed, or without a
   permutation. */
KILN_EXPORT uint64_t kiln_permutation_scratch_bytes(const kiln_permutation* permutation, uint64_t rows);
KILN_EXPORT void kiln_permutation_free(kiln_permutation* permutation);

/* ---- Ahead of time ---- */

typedef struct kiln_precompile_options {
  size_t size;                /* sizeof(kiln_precompile_options) */
  const char* plan;           /* a plan file */
  const char* output;         /* the pack: created, or added to */
  const char* const* targets; /* for the plan's items that name none */
  size_t target_count;
  const char* nvrtc; /* may be NULL, as in kiln_options_set_nvrtc */
  uint32_t jobs;     /* 0: as many as the process may use CPUs */
} kiln_precompile_options;

typedef struct kiln_precompile_result {
  size_t size; /* sizeof(kiln_precompile_result) */
  uint64_t total;
  uint64_t compiled;
  uint64_t present; /* were in the pack already */
  uint64_t failed;
} kiln_precompile_result;

/* Needs neither GPU nor driver. When kernels fail the others go on, `result` is filled in and the status is
   KILN_COMPILE_FAILED with every failure in the error's log. `result` may be NULL. */
KILN_EXPORT kiln_status kiln_precompile(const kiln_precompile_options* options, kiln_precompile_result* result,
                                        kiln_error** error);

#ifdef __cplusplus
} /* extern "C" */
#endif
