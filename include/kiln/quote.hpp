#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kiln/export.h"

namespace kiln {

/// `text` without anything a terminal would act upon or that is no UTF-8: such bytes become \xNN. Newlines and tabs
/// stay. Every `Error`'s message has been through this. Pure.
KILN_EXPORT std::string printable(std::string_view text);

/// Is `text` UTF-8 from beginning to end? Pure.
KILN_EXPORT bool is_utf8(std::string_view text);

/// Text from outside as a message shows it: on one line, between single quotes, every byte that cannot be shown as
/// \xNN. Longer than `most` bytes, its middle is left out and its length follows: 'begin…end' (5000 bytes). Pure.
KILN_EXPORT std::string quote(std::string_view text, std::size_t most = 80);

/// The same without the quotes, for the FILE of FILE:LINE.
KILN_EXPORT std::string one_line(std::string_view text, std::size_t most = 80);

}  // namespace kiln
