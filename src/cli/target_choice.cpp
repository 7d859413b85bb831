#include "cli/target_choice.hpp"

#include <algorithm>

#include "cli/common.hpp"

namespace kiln::cli {

namespace {

bool needs_device(const std::vector<Target>& targets) {
  return targets.empty() || std::ranges::any_of(targets, &Target::is_native);
}

}  // namespace

std::optional<Device> find_device() {
  try {
    return Device(0);
  } catch (const Error& error) {
    if (exit_code_of(error.code()) != k_environment) {
      throw;
    }
    return std::nullopt;
  }
}

std::vector<Target> choose_targets(const std::vector<std::string>& texts, const std::optional<Device>& device) {
  std::vector<Target> targets = parse_targets(texts);
  if (!needs_device(targets)) {
    return targets;
  }
  if (!device) {
    throw Error(ErrorCode::no_device,
                "there is no GPU here to tell the architecture: name it with --target, for example --target sm_90");
  }
  std::ranges::replace_if(targets, &Target::is_native, device->target());
  return targets.empty() ? std::vector<Target>{device->target()} : each_once(targets);
}

std::vector<Target> choose_targets(const std::vector<std::string>& texts) {
  return choose_targets(texts, needs_device(parse_targets(texts)) ? find_device() : std::nullopt);
}

}  // namespace kiln::cli
