#pragma once

#include <string>
#include <vector>

#include "kiln/export.h"
#include "kiln/service_options.hpp"

namespace kiln {

enum class Health { good, missing, bad };

/// One thing Kiln needs or uses, as found on this machine.
struct Finding {
  std::string name;  ///< "nvrtc", "driver", "gpu 0", "cache", "pack FILE"
  Health health = Health::good;
  std::string summary;  ///< what was found, with version and path
  std::vector<std::string> looked_in;
  std::string remedy;  ///< what to do, when not good
};

/// Looks at everything Kiln would use with these options. Opens NVRTC and the driver; changes nothing.
KILN_EXPORT std::vector<Finding> diagnose(const ServiceOptions& options);

}  // namespace kiln
