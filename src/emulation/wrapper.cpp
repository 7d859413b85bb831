#include "emulation/wrapper.hpp"

namespace kiln::emulation {

std::string wrapper_for(const Source& source, const std::string& main_file) {
  std::string text = "#include \"" + main_file + "\"\n";
  std::string list;
  for (std::size_t i = 0; i < source.entries.size(); ++i) {
    // A kernel that is not there, or no kernel, is reported in the line that names it.
    text += "#line 1 \"entry " + std::to_string(i) + "\"\nstatic constexpr auto kiln_emulation_entry_" +
            std::to_string(i) + " = kiln_emulation::Launcher<&" + source.entries[i] + ">::entry();\n";
    list += (i == 0 ? "" : ", ") + ("kiln_emulation_entry_" + std::to_string(i));
  }
  return text + "KILN_EMULATION_MODULE(" + list + ")\n";
}

}  // namespace kiln::emulation
