#include "service/request.hpp"

#include "cache/spec.hpp"
#include "kiln/error.hpp"

namespace kiln::service {

Request make_request(const Template& tmpl, const Values& values, const Target& target) {
  if (target.is_native()) {
    throw Error(ErrorCode::invalid_argument,
                "the target of this call must be explicit, for example sm_90: native means the current device");
  }
  Request request;
  request.source = instantiate(tmpl, values);
  request.target = target;
  request.arguments = jit::compile_arguments(request.source, target);
  request.spec = cache::make_spec(request.source, request.arguments.keyed, target);
  request.key = cache::key_of(request.spec);
  return request;
}

}  // namespace kiln::service
