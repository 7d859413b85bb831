#include "kiln/file_trouble.hpp"

#include <cerrno>
#include <system_error>

#include "kiln/quote.hpp"

namespace kiln {

std::string file_trouble(int error) {
  switch (error) {
    case ENOENT:
      return "there is no such file or folder; check the name";
    case ENOTDIR:
      return "a part of its path is no folder; check the name";
    case EISDIR:
      return "it is a folder; name a regular file";
    case EACCES:
    case EPERM:
      return "permission is denied to this user; change the permissions of the file and its folders, or name another";
    case EROFS:
      return "the file system is read-only; name a place that can be written";
    case ELOOP:
      return "its symbolic links lead in a circle; mend the links or name the file itself";
    case ENAMETOOLONG:
      return "its name is too long: 255 bytes a part and 4095 in all can be; use a shorter one";
    case ENOSPC:
      return "the disk is full; make room or name another place";
    case EDQUOT:
      return "this user's share of the disk is used up; make room or name another place";
    case EMFILE:
    case ENFILE:
      return "too many files are open; close some or raise the limit (ulimit -n)";
    case ENOMEM:
      return "memory is short; free some";
    case ENXIO:
    case ENODEV:
    case EOPNOTSUPP:
      return "it is no regular file; name one";
    case ETXTBSY:
    case EBUSY:
      return "it is in use; try again later";
    case EIO:
    case ESTALE:
      return "the storage below it fails; look at the disk or mount";
    default:
      return std::generic_category().message(error) + " (errno " + std::to_string(error) + "); name another file";
  }
}

std::string quote_path(const std::filesystem::path& file) {
  constexpr std::size_t k_most = 250;
  return quote(file.native(), k_most);
}

}  // namespace kiln
