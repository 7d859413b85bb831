#include "kiln/link.hpp"

namespace kiln {

std::filesystem::path through_links(const std::filesystem::path& file, std::error_code& error) {
  constexpr int k_most_links = 40;  // as the kernel's own limit
  std::filesystem::path end = file;
  std::error_code ignored;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(end, ignored)); ++links) {
    if (links == k_most_links) {
      error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
      return {};
    }
    std::filesystem::path target = std::filesystem::read_symlink(end, error);
    if (error) {
      return {};
    }
    end = end.parent_path() / target;
  }
  error.clear();
  return end;
}

}  // namespace kiln
