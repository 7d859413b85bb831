#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "kiln/error.hpp"
#include "kiln/kiln.h"

struct kiln_error {
  kiln_status code;
  std::string message;
  std::string log;
};

namespace kiln::c_api {

/// An error with a log that no exception of the C++ API carries.
class LoggedError : public Error {
 public:
  LoggedError(ErrorCode code, const std::string& message, std::string log)
      : Error(code, message), log_(std::move(log)) {}
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

/// The one place where exceptions become errors: call it from a handler. `error` may be null.
kiln_status convert_exception(kiln_error** error) noexcept;

/// Runs a call's body; whatever it throws ends here.
template <typename Body>
kiln_status guarded(kiln_error** error, Body&& body) noexcept {
  if (error != nullptr) {
    *error = nullptr;
  }
  try {
    std::forward<Body>(body)();
    return KILN_OK;
  } catch (...) {
    return convert_exception(error);
  }
}

/// Throws Error{invalid_argument} naming the argument when it is null; else gives what it points to.
template <typename T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) {
    throw Error(ErrorCode::invalid_argument, std::string("argument '") + name + "' is NULL; give a valid pointer");
  }
  return *pointer;
}
/// Throws Error{invalid_argument} naming the argument when it is null or no UTF-8.
const char* required_text(const char* text, const char* name);
/// A file's name: any bytes, since that is what they are, but at least one. Throws Error{invalid_argument}.
const char* required_path(const char* path, const char* name);

/// Gives the caller a new object made of what `make` returns, or null if it throws.
template <typename Handle, typename Make>
kiln_status created(Handle** out, kiln_error** error, Make&& make) noexcept {
  return guarded(error, [&] {
    required(out, "out") = nullptr;
    *out = new Handle{std::forward<Make>(make)()};
  });
}

/// Throws Error{invalid_argument} unless `size`, as the caller set it, can be of some version of a struct of ours: no
/// member is cut in two.
void check_struct_size(std::size_t size, std::size_t ours, std::size_t alignment, const char* name);
template <typename Struct>
void check_struct_size(const Struct* caller, const char* name) {
  check_struct_size(required(caller, name).size, sizeof(Struct), alignof(Struct), name);
}

/// Throws Error{invalid_argument} when no list in memory can have so many items of that size.
void check_count(std::size_t count, std::size_t item_bytes);

/// The caller's struct, which may be of an older version: what that did not have is zero.
template <typename Struct>
Struct read_struct(const Struct* in, const char* name) {
  check_struct_size(in, name);
  Struct copy{};
  std::memcpy(&copy, in, in->size);
  return copy;
}

/// Fills in the caller's struct as far as its version goes; its size stays.
template <typename Struct>
void write_struct(Struct* out, Struct value, const char* name) {
  check_struct_size(out, name);
  value.size = out->size;
  std::memcpy(out, &value, out->size);
}

}  // namespace kiln::c_api
