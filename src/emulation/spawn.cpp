#include "emulation/spawn.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

extern char** environ;

namespace kiln::emulation {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) {
    list.push_back(const_cast<char*>(word.c_str()));
  }
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(const std::vector<std::string>& changed) {
  std::vector<std::string> variables = changed;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    if (std::none_of(changed.begin(), changed.end(), [&](const std::string& one) { return one.starts_with(name); })) {
      variables.emplace_back(text);
    }
  }
  return variables;
}

struct Attributes {
  Attributes() { posix_spawnattr_init(&value); }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t value{};
};

}  // namespace

int spawn(const std::vector<std::string>& command, const FileActions& files, Session session,
          const std::vector<std::string>& changed, pid_t& child) {
  Attributes attributes;
  // A child that inherits blocked signals cannot be stopped by them.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes.value, &none);
  const int own_session = session == Session::own ? POSIX_SPAWN_SETSID : 0;
  posix_spawnattr_setflags(&attributes.value, static_cast<short>(POSIX_SPAWN_SETSIGMASK | own_session));
  const std::vector<std::string> variables = environment_with(changed);
  return posix_spawn(&child, command[0].c_str(), files.get(), &attributes.value, pointers(command).data(),
                     pointers(variables).data());
}

bool wait_for(pid_t child, int& status) noexcept {
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace kiln::emulation
