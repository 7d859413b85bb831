#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/target.hpp"

namespace kiln::cli {

/// The first GPU, if there is one; no driver and no GPU are no error here, any other trouble is.
std::optional<Device> find_device();

/// The targets given on a command line, with `native`, or nothing, replaced by the architecture of `device`. Throws
/// UsageError for a malformed one, Error{no_device} when it takes a GPU and there is none.
std::vector<Target> choose_targets(const std::vector<std::string>& texts, const std::optional<Device>& device);
/// The same for commands that do not run what they compile: the GPU is looked for only if it is needed.
std::vector<Target> choose_targets(const std::vector<std::string>& texts);

}  // namespace kiln::cli
