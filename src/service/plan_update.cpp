#include "service/plan_update.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "cache/file_identity.hpp"
#include "cache/totals_file.hpp"
#include "cache/user_layer.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/link.hpp"
#include "kiln/text_file.hpp"
#include "support/unique_handle.hpp"

namespace kiln::service {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::steady_clock;

constexpr std::chrono::seconds k_longest_wait{5};
constexpr std::chrono::milliseconds k_pause{2};

struct DescriptorTraits {
  using Type = int;
  static Type invalid() noexcept { return -1; }
  static void close(Type descriptor) noexcept {
    ::flock(descriptor, LOCK_UN);  // also where a child that was forked meanwhile has the descriptor
    ::close(descriptor);
  }
};
using Descriptor = support::UniqueHandle<DescriptorTraits>;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + file_trouble(errno)); }

/// A complete file beside `file`, to be put in its place.
std::filesystem::path write_aside(const std::filesystem::path& file, const Json& plan) {
  std::string name = file.string() + ".XXXXXX";
  Descriptor descriptor(::mkstemp(name.data()));
  if (!descriptor) {
    fail("a file beside it cannot be made");
  }
  std::string text = plan.dump(1) + "\n";
  for (std::string_view rest = text; !rest.empty();) {
    ssize_t written = ::write(descriptor.get(), rest.data(), rest.size());
    if (written < 0 && errno != EINTR) {
      int error = errno;
      ::unlink(name.c_str());
      errno = error;
      fail("writing failed");
    }
    rest.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return name;
}

/// link() leaves a file that another process has made meanwhile.
void create_if_absent(const std::filesystem::path& file) {
  if (struct stat status{}; ::stat(file.c_str(), &status) == 0 || errno != ENOENT) {
    return;  // opening it says what is wrong, if anything is
  }
  std::filesystem::path aside =
      write_aside(file, {{"kiln_plan", 1}, {"templates", Json::object()}, {"kernels", Json::array()}});
  int linked = ::link(aside.c_str(), file.c_str());
  int error = errno;
  ::unlink(aside.c_str());
  if (linked != 0 && error != EEXIST) {
    errno = error;
    fail("it cannot be made");
  }
}

/// The lock is on the file itself, so that nothing else is left behind; it is worth something only while the file is
/// still the one that the name leads to.
bool is_current(const Descriptor& descriptor, const std::filesystem::path& file) {
  struct stat held{};
  struct stat named{};
  return ::fstat(descriptor.get(), &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

/// Caches and SQLite keep files of these names, there or not: whatever else stands there they replace or remove.
void require_free_name(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const bool is_of_cache = name == cache::k_database_name || name == cache::k_totals_name;
  if (is_of_cache ||
      std::ranges::any_of(cache::k_beside_database, [&](std::string_view end) { return name.ends_with(end); })) {
    throw std::runtime_error("caches and databases keep files of that name; name another file");
  }
}

/// Invalid when the file is not there. A pipe or a device is not touched: to open one may wait, or do things.
Descriptor open_regular(const std::filesystem::path& file) {
  struct stat status{};
  bool is_there = ::stat(file.c_str(), &status) == 0;
  if (is_there && !S_ISREG(status.st_mode)) {
    throw std::runtime_error("it is no regular file; name one");
  }
  Descriptor descriptor(is_there ? ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1);
  if (!descriptor && errno != ENOENT) {
    fail("it cannot be opened for writing");
  }
  return descriptor;
}

Descriptor lock(const std::filesystem::path& file) {
  for (auto begin = steady_clock::now(); steady_clock::now() - begin < k_longest_wait;) {
    create_if_absent(file);
    Descriptor descriptor = open_regular(file);
    if (descriptor && ::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0 && is_current(descriptor, file)) {
      return descriptor;
    }
    std::this_thread::sleep_for(k_pause);
  }
  throw std::runtime_error("another process kept it locked for 5 s");
}

Json read_plan(const std::filesystem::path& file) {
  Json plan = Json::parse(read_text_file(file, "plan"), nullptr, /*allow_exceptions=*/false);
  if (!plan.is_object() || plan["kiln_plan"] != 1 || !plan["kernels"].is_array()) {
    throw std::runtime_error("it is there, and not a plan; name another file");
  }
  if (!plan.emplace("templates", Json::object()).first->is_object()) {
    throw std::runtime_error("its \"templates\" are no object; mend it or name another file");
  }
  return plan;
}

}  // namespace

void update_plan(const std::filesystem::path& name, const std::function<bool(Json&)>& change) {
  std::error_code error;
  const std::filesystem::path file = through_links(name, error);
  if (error) {
    throw std::runtime_error(file_trouble(error.value()));
  }
  require_free_name(file);
  Descriptor held = lock(file);
  Json plan = read_plan(file);
  if (!change(plan)) {
    return;
  }
  std::filesystem::path aside = write_aside(file, plan);
  if (::rename(aside.c_str(), file.c_str()) != 0) {
    int reason = errno;
    ::unlink(aside.c_str());
    errno = reason;
    fail("it cannot be replaced");
  }
}

}  // namespace kiln::service
