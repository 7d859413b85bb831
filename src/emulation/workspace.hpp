#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "emulation/guarded_folder.hpp"

namespace kiln::emulation {

/// Where a source's files are put in a workspace: deep enough for headers whose names go up.
inline constexpr std::string_view k_source_folder = "1/2/3/4/5/6/7/8/source";

/// A private folder under the system's temporary folder; gone with everything in it when this goes, and when the
/// process ends, however it ends.
class Workspace {
 public:
  /// Throws Error{host_compiler} naming the folder that could not be made.
  Workspace();

  const std::filesystem::path& path() const noexcept { return folder_.path(); }
  /// Writes a file, and the folders on its way. `name` is relative and may go up (`../common.h`), but not above the
  /// workspace. Throws Error{host_compiler} naming the file and why it cannot be written.
  void write(const std::filesystem::path& name, std::string_view text) const;
  /// The file's whole text; empty when it is not there.
  std::string read(const std::filesystem::path& name) const;

 private:
  GuardedFolder folder_;
};

}  // namespace kiln::emulation
