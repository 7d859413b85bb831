#pragma once

#include <functional>
#include <string_view>

namespace kiln {

enum class LogLevel { debug, info, warning };

/// Where Kiln says what an operator should know (a degraded cache, a dropped row). The library itself never
/// prints. May be called from any thread, also several at once; it must not throw and must not call Kiln.
using LogCallback = std::function<void(LogLevel, std::string_view message)>;

}  // namespace kiln
