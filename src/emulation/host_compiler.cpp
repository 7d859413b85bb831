#include "emulation/host_compiler.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string_view>

#include "core/environment.hpp"
#include "emulation/spawn.hpp"
#include "kiln/error.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/quote.hpp"

namespace kiln::emulation {
namespace {

namespace fs = std::filesystem;

// g++ first: clang does not check the alignment of whole vectors (copies of trivial classes), g++ does.
constexpr std::array k_compiler_names = {"g++", "clang++-19", "clang++", "c++"};
constexpr const char* k_output_file = "compiler-output";

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

/// Where programs are looked for without a PATH: never in the current folder, which may be anybody's.
constexpr const char* k_usual_path = "/usr/bin:/bin";

/// As a shell finds a command: by path if it has a slash, else on PATH.
std::optional<fs::path> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return is_program(name) ? std::optional(fs::path(name)) : std::nullopt;
  }
  const std::string search = core::environment("PATH").value_or(k_usual_path);
  for (std::size_t begin = 0; begin <= search.size();) {
    const std::size_t end = std::min(search.find(':', begin), search.size());
    const fs::path file = fs::path(search.substr(begin, end - begin)) / name;
    if (is_program(file)) {
      return file;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

/// The exit status, or a negative number when the program was ended by that signal.
int run(const std::vector<std::string>& command, const Workspace& workspace) {
  const std::string output = (workspace.path() / k_output_file).string();
  FileActions files;
  files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  files.open(STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  files.copy(STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  // The compiler's own temporary files go where they cannot stay behind.
  if (const int error = spawn(command, files, Session::ours, {"TMPDIR=" + workspace.path().string()}, child);
      error != 0) {
    throw Error(ErrorCode::host_compiler,
                "cannot start the host compiler " + quote_path(command[0]) + ": " + file_trouble(error));
  }
  int status = 0;
  if (!wait_for(child, status)) {
    throw Error(ErrorCode::host_compiler, "cannot wait for the host compiler " + quote_path(command[0]) +
                                              ": the process must not ignore SIGCHLD or reap its children itself");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

fs::path find_host_compiler() {
  const std::optional<std::string> chosen = core::environment("KILN_HOST_CXX");
  if (chosen) {
    if (const auto found = find_program(*chosen)) {
      return *found;
    }
    throw Error(ErrorCode::host_compiler,
                "KILN_HOST_CXX is " + quote_path(*chosen) + ", which is no program; set it to g++ or clang++");
  }
  std::vector<std::string> names(k_compiler_names.begin(), k_compiler_names.end());
  if (const auto usual = core::environment("CXX")) {
    names.insert(names.begin(), *usual);
  }
  std::string tried;
  for (const std::string& name : names) {
    if (const auto found = find_program(name)) {
      return *found;
    }
    tried += (tried.empty() ? "" : ", ") + one_line(name);
  }
  throw Error(ErrorCode::host_compiler, "emulation needs a C++ compiler and found none; tried " + tried +
                                            "; install clang or g++, or set KILN_HOST_CXX");
}

bool is_clang(const fs::path& compiler) {
  std::error_code error;
  const fs::path file = fs::canonical(compiler, error);
  const auto named = [](const fs::path& path) { return path.filename().string().find("clang") != std::string::npos; };
  return named(compiler) || (!error && named(file));
}

void run_host_compiler(const fs::path& compiler, const std::vector<std::string>& arguments, const Workspace& workspace,
                       const fs::path& library) {
  std::vector<std::string> command{compiler.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int status = run(command, workspace);
  if (status != 0) {
    std::string text;
    for (const std::string& word : command) {
      text += (text.empty() ? "" : " ") + word;
    }
    throw Error(ErrorCode::host_compiler,
                (status < 0 ? "the host compiler was ended by signal " + std::to_string(-status)
                            : "the host compiler refused the source (status " + std::to_string(status) + ")") +
                    ":\n" + text + "\n" + workspace.read(k_output_file));
  }
  std::error_code error;
  if (fs::file_size(library, error) == 0 || error) {
    throw Error(ErrorCode::host_compiler, "the host compiler " + quote_path(compiler) +
                                              " ended well and made no library, so it is no C++ compiler; set "
                                              "KILN_HOST_CXX to g++ or clang++");
  }
}

}  // namespace kiln::emulation
