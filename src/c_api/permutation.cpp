#include <algorithm>
#include <cstdint>
#include <span>

#include "c_api/handles.hpp"
#include "kiln/index_map.hpp"

using kiln::c_api::created;
using kiln::c_api::guarded;
using kiln::c_api::required;
using kiln::c_api::required_text;
using kiln::c_api::target_of;

namespace {

kiln::IndexMap map_of(const kiln_permutation_request& request) {
  std::span<const std::int64_t> indices;
  if (request.count != 0) {
    indices = {&required(request.indices, "request->indices"), request.count};
  }
  return request.source_size == 0 ? kiln::Permutation(indices) : kiln::IndexMap(indices, request.source_size);
}

kiln::PermuteEnding ending_of(const kiln_permutation_ending& given) {
  const auto known = kiln::c_api::read_struct(&given, "request->ending");
  kiln::PermuteEnding ending;
  ending.from = kiln::c_api::required_text(known.from, "request->ending->from");
  ending.to = kiln::c_api::required_text(known.to, "request->ending->to");
  if (known.expression != nullptr) {
    ending.expression = kiln::c_api::required_text(known.expression, "request->ending->expression");
  }
  for (std::size_t number = 0; number < known.list_count; ++number) {
    const kiln_ending_list& list = (&required(known.lists, "request->ending->lists"))[number];
    const float* numbers = list.count == 0 ? nullptr : &required(list.numbers, "request->ending->lists->numbers");
    ending.lists[kiln::c_api::required_text(list.name, "request->ending->lists->name")].assign(numbers,
                                                                                               numbers + list.count);
  }
  return ending;
}

kiln::PermuteShape shape_of(const kiln_permutation_request& request) {
  kiln::PermuteShape shape;
  shape.element_bytes = request.element_bytes;
  shape.inner = std::max<std::uint64_t>(request.inner, 1);
  shape.typical_rows = request.typical_rows;
  if (request.strategy != nullptr) {
    shape.strategy = kiln::parse_strategy(required_text(request.strategy, "request->strategy"));
  }
  shape.row_stride_in = request.row_stride_in;
  shape.row_stride_out = request.row_stride_out;
  shape.in_place = request.in_place != 0;
  if (request.ending != nullptr) {
    shape.ending = ending_of(*request.ending);
  }
  return shape;
}

}  // namespace

kiln_status kiln_service_get_permutation(const kiln_service* service, const kiln_permutation_request* request,
                                         const char* target, kiln_permutation** out, kiln_error** error) {
  return created(out, error, [&] {
    const auto known = kiln::c_api::read_struct(request, "request");
    return required(service, "service").permuter.get(map_of(known), shape_of(known), target_of(target));
  });
}

kiln_status kiln_service_tune_permutation(const kiln_service* service, const kiln_permutation_request* request,
                                          const char* target, kiln_permutation** out, kiln_error** error) {
  return created(out, error, [&] {
    const auto known = kiln::c_api::read_struct(request, "request");
    return required(service, "service").permuter.tune(map_of(known), shape_of(known), target_of(target));
  });
}

kiln_status kiln_service_compile_permutation(const kiln_service* service, const kiln_permutation_request* request,
                                             const char* target, kiln_artifact** out, kiln_error** error) {
  return created(out, error, [&] {
    const auto known = kiln::c_api::read_struct(request, "request");
    const kiln::Target parsed = target_of(target);
    const kiln::PermuteRequest plan = kiln::plan_permute(map_of(known), shape_of(known), parsed);
    return required(service, "service").value.find_or_compile(plan.tmpl, plan.values, parsed);
  });
}

kiln_status kiln_permutation_launch(const kiln_permutation* permutation, void* y, const void* x, uint64_t rows,
                                    void* stream, kiln_error** error) {
  return guarded(error,
                 [&] { required(permutation, "permutation").value(y, x, rows, static_cast<kiln::Stream>(stream)); });
}

kiln_status kiln_permutation_launch_with_scratch(const kiln_permutation* permutation, void* y, const void* x,
                                                 uint64_t rows, void* scratch, uint64_t scratch_bytes, void* stream,
                                                 kiln_error** error) {
  return guarded(error, [&] {
    required(permutation, "permutation")
        .value(y, x, rows, kiln::PermuteScratch{scratch, scratch_bytes}, static_cast<kiln::Stream>(stream));
  });
}

uint64_t kiln_permutation_scratch_bytes(const kiln_permutation* permutation, uint64_t rows) {
  return permutation == nullptr ? 0 : permutation->value.scratch_bytes(rows);
}

void kiln_permutation_free(kiln_permutation* permutation) { delete permutation; }
