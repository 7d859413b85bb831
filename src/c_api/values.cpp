#include <cstddef>
#include <cstdint>
#include <vector>

#include "c_api/handles.hpp"

using kiln::c_api::required;
using kiln::c_api::required_text;

namespace {

/// Sets what `make` returns.
template <typename Make>
kiln_status guarded_set(kiln_values* values, const char* name, kiln_error** error, Make&& make) noexcept {
  return kiln::c_api::guarded(
      error, [&] { required(values, "values").value.set(required_text(name, "name"), kiln::Value(make())); });
}

template <typename T>
kiln_status set_list(kiln_values* values, const char* name, const T* list, std::size_t count,
                     kiln_error** error) noexcept {
  return guarded_set(values, name, error, [&] {
    kiln::c_api::check_count(count, sizeof(T));
    return count == 0 ? std::vector<T>() : std::vector<T>(&required(list, "list"), list + count);
  });
}

}  // namespace

kiln_status kiln_values_create(kiln_values** out, kiln_error** error) {
  return kiln::c_api::created(out, error, [] { return kiln::Values(); });
}

void kiln_values_free(kiln_values* values) { delete values; }

kiln_status kiln_values_set_bool(kiln_values* values, const char* name, int value, kiln_error** error) {
  return guarded_set(values, name, error, [&] { return value != 0; });
}

kiln_status kiln_values_set_int(kiln_values* values, const char* name, int64_t value, kiln_error** error) {
  return guarded_set(values, name, error, [&] { return value; });
}

kiln_status kiln_values_set_uint(kiln_values* values, const char* name, uint64_t value, kiln_error** error) {
  return guarded_set(values, name, error, [&] { return value; });
}

kiln_status kiln_values_set_real(kiln_values* values, const char* name, double value, kiln_error** error) {
  return guarded_set(values, name, error, [&] { return value; });
}

kiln_status kiln_values_set_type(kiln_values* values, const char* name, const char* type, kiln_error** error) {
  return guarded_set(values, name, error, [&] { return kiln::TypeName{required_text(type, "type")}; });
}

kiln_status kiln_values_set_code(kiln_values* values, const char* name, const char* code, kiln_error** error) {
  return guarded_set(values, name, error, [&] { return kiln::Code{required_text(code, "code")}; });
}

kiln_status kiln_values_set_int_list(kiln_values* values, const char* name, const int64_t* list, size_t count,
                                     kiln_error** error) {
  return set_list(values, name, list, count, error);
}

kiln_status kiln_values_set_uint_list(kiln_values* values, const char* name, const uint64_t* list, size_t count,
                                      kiln_error** error) {
  return set_list(values, name, list, count, error);
}

kiln_status kiln_values_set_real_list(kiln_values* values, const char* name, const double* list, size_t count,
                                      kiln_error** error) {
  return set_list(values, name, list, count, error);
}
