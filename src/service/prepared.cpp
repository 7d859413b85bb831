#include <mutex>

#include "service/service_state.hpp"

namespace kiln {

/// The request, and the kernel it gave last.
struct Prepared::State {
  Service service;
  Template tmpl;
  Values values;
  Target target;
  Key key;

  std::mutex mutex;  // guards the two below
  jit::ContextId context;
  std::optional<Kernel> kernel;
};

Prepared Service::prepare(const Template& tmpl, const Values& values, const Target& target) const {
  Key key = service::make_request(tmpl, values, resolve(target)).key;
  return Prepared(std::shared_ptr<Prepared::State>(new Prepared::State{*this, tmpl, values, target, key, {}, {}, {}}));
}

Kernel Prepared::get() const {
  jit::ContextId context = jit::Driver::open()->current_context();
  // Only tried: in a child of fork() the lock may belong to a thread that exists no more, and the long way is right
  // too.
  if (std::unique_lock lock(state_->mutex, std::try_to_lock); lock && state_->kernel && state_->context == context) {
    return *state_->kernel;
  }
  Kernel kernel = state_->service.get(state_->tmpl, state_->values, state_->target);
  if (std::unique_lock lock(state_->mutex, std::try_to_lock); lock && context.is_unique()) {
    state_->context = context;
    state_->kernel = kernel;
  }
  return kernel;
}

const Key& Prepared::key() const noexcept { return state_->key; }

}  // namespace kiln
