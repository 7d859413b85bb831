#include "cli/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace kiln::test {

std::vector<Json> Finished::lines() const {
  std::vector<Json> objects;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) {
    objects.push_back(Json::parse(line));
  }
  return objects;
}

Json Finished::line() const {
  std::vector<Json> objects = lines();
  if (objects.size() != 1) {
    throw std::runtime_error("one line of JSON was wanted, not: " + out + err);
  }
  return objects.front();
}

Program::Program() {
  environment_["HOME"] = home_.path().string();
  environment_["TMPDIR"] = home_.path().string();
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "KILN_NVRTC", "CUDA_HOME", "CUDA_PATH", "KILN_HOST_CXX",
                           "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) {
      environment_[name] = value;
    }
  }
}

/// The program, and the files that its streams go to.
struct Program::Running {
  std::unique_ptr<TempDir> streams;
  std::string out;
  std::string err;
  pid_t child = -1;
};

Finished Program::run(const std::vector<std::string>& arguments, const std::string& out_file) const {
  return finish(start(arguments, out_file));
}

Finished Program::run_and_stop(const std::vector<std::string>& arguments, int signal,
                               const std::function<bool()>& ready) const {
  Running running = start(arguments, {});
  siginfo_t ended{};
  while (!ready()) {
    waitid(P_PID, static_cast<id_t>(running.child), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0) {
      throw std::runtime_error("the program ended before it was stopped: " + read_file(running.err));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(running.child, signal);
  return finish(running);
}

Program::Running Program::start(const std::vector<std::string>& arguments, const std::string& out_file) const {
  std::vector<std::string> words{KILN_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment_) {
    variables.push_back(name + "=" + value);
  }
  std::vector<char*> envp;
  for (std::string& variable : variables) {
    envp.push_back(variable.data());
  }
  envp.push_back(nullptr);

  Running running{std::make_unique<TempDir>(), {}, {}, -1};
  running.out = out_file.empty() ? (*running.streams / "out").string() : out_file;
  running.err = (*running.streams / "err").string();
  int pipe_ends[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (out_file == k_closed) {
    posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO);
  } else if (out_file == k_broken_pipe) {
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipe can be made");
    }
    close(pipe_ends[0]);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, running.out.c_str(), O_WRONLY | O_CREAT, 0600);
  }
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, running.err.c_str(), O_WRONLY | O_CREAT, 0600);
  int spawned = posix_spawn(&running.child, KILN_PROGRAM, &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (pipe_ends[1] != -1) {
    close(pipe_ends[1]);
  }
  if (spawned != 0) {
    throw std::runtime_error(std::string("cannot run ") + KILN_PROGRAM);
  }
  return running;
}

Finished Program::finish(const Running& running) {
  int status = 0;
  waitpid(running.child, &status, 0);
  Finished finished;
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  bool is_ours = running.out.starts_with(running.streams->path().string());
  finished.out = is_ours ? read_file(running.out) : "";
  finished.err = read_file(running.err);
  return finished;
}

bool Program::has_nvrtc() const {
  for (const Json& finding : run({"doctor", "--json"}).lines()) {
    if (finding.at("name") == "nvrtc") {
      return finding.at("health") == "good";
    }
  }
  throw std::runtime_error("doctor says nothing of NVRTC");
}

std::string Program::file(const std::string& name, std::string_view content) const {
  std::filesystem::create_directories((home_ / name).parent_path());
  write_file(home_ / name, content);
  return (home_ / name).string();
}

std::uint64_t Program::entries() const { return run({"stats", "--json"}).line().at("entries").get<std::uint64_t>(); }

std::string source_path(const std::string& path) { return std::string(KILN_SOURCE_DIR) + "/" + path; }

}  // namespace kiln::test
