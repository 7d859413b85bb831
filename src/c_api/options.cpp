#include "c_api/handles.hpp"

using kiln::c_api::guarded;
using kiln::c_api::required;
using kiln::c_api::required_path;

namespace {

kiln::LogCallback adapted(kiln_log_callback callback, void* context) {
  if (callback == nullptr) {
    return {};
  }
  return [callback, context](kiln::LogLevel level, std::string_view message) {
    try {
      callback(context, static_cast<kiln_log_level>(level), std::string(message).c_str());
    } catch (const std::bad_alloc&) {  // a callback must not throw: this line of the log is lost
    }
  };
}

static_assert(static_cast<int>(kiln::LogLevel::debug) == KILN_LOG_DEBUG);
static_assert(static_cast<int>(kiln::LogLevel::info) == KILN_LOG_INFO);
static_assert(static_cast<int>(kiln::LogLevel::warning) == KILN_LOG_WARNING);

kiln::CacheMode mode_of(kiln_cache_mode mode) {
  switch (mode) {
    case KILN_CACHE_READ_WRITE:
      return kiln::CacheMode::read_write;
    case KILN_CACHE_READ_ONLY:
      return kiln::CacheMode::read_only;
    case KILN_CACHE_OFF:
      return kiln::CacheMode::off;
  }
  throw kiln::Error(kiln::ErrorCode::invalid_argument,
                    "cache mode " + std::to_string(static_cast<int>(mode)) +
                        " is unknown; give KILN_CACHE_READ_WRITE, KILN_CACHE_READ_ONLY "
                        "or KILN_CACHE_OFF");
}

}  // namespace

kiln_status kiln_options_create(kiln_options** out, kiln_error** error) {
  return kiln::c_api::created(out, error, [] { return kiln::ServiceOptions::from_environment(); });
}

void kiln_options_free(kiln_options* options) { delete options; }

kiln_status kiln_options_set_cache_dir(kiln_options* options, const char* directory, kiln_error** error) {
  return guarded(error, [&] {
    auto& cache_dir = required(options, "options").value.cache_dir;
    if (directory == nullptr) {
      cache_dir.reset();
    } else {
      cache_dir = required_path(directory, "directory");
    }
  });
}

kiln_status kiln_options_set_cache_mode(kiln_options* options, kiln_cache_mode mode, kiln_error** error) {
  return guarded(error, [&] { required(options, "options").value.cache_mode = mode_of(mode); });
}

kiln_status kiln_options_set_max_bytes(kiln_options* options, uint64_t bytes, kiln_error** error) {
  return guarded(error, [&] { required(options, "options").value.max_bytes = bytes; });
}

kiln_status kiln_options_add_pack(kiln_options* options, const char* file, kiln_error** error) {
  return guarded(error, [&] { required(options, "options").value.packs.emplace_back(required_path(file, "file")); });
}

kiln_status kiln_options_set_strict(kiln_options* options, int strict, kiln_error** error) {
  return guarded(error, [&] { required(options, "options").value.strict = strict != 0; });
}

kiln_status kiln_options_set_nvrtc(kiln_options* options, const char* file, kiln_error** error) {
  return guarded(error, [&] { required(options, "options").value.nvrtc = file == nullptr ? "" : file; });
}

kiln_status kiln_options_set_log(kiln_options* options, kiln_log_callback callback, void* context, kiln_error** error) {
  return guarded(error, [&] { required(options, "options").value.log = adapted(callback, context); });
}
