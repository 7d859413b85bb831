"""What README.md shows works, against the installed Kiln: programs build, and those that need no GPU run; the template
and the program's commands do what they say; the presets and the CMake lines exist.

readme_test.py README.md PREFIX CMAKE C++_COMPILER [FLAG…]
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

README, PREFIX, CMAKE, *COMPILER = sys.argv[1:]
del sys.argv[1:]
ROOT = pathlib.Path(README).resolve().parent
TEXT = pathlib.Path(README).read_text()

# As much of the CUDA runtime as the first program calls, for machines without a toolkit.
CUDA_RUNTIME = """#pragma once
#include <cstddef>
int cudaDeviceSynchronize();
template <typename T> int cudaMalloc(T** pointer, std::size_t bytes);
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def commands():
    """The lines that are set in by four columns, without their comments."""
    return [shlex.split(line, comments=True) for line in re.findall(r"^    (\S.*)$", TEXT, re.M)]


def one(found):
    assert len(found) == 1, found
    return found[0]


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        config = one(list(pathlib.Path(PREFIX).rglob("kiln.pc"))).parent
        self.environment = {**os.environ, "HOME": self.folder.name, "PKG_CONFIG_PATH": str(config),
                            "LD_LIBRARY_PATH": str(config.parent)}
        for name in [name for name in self.environment if name.startswith("KILN_") and name != "KILN_NVRTC"]:
            del self.environment[name]

    def run_in_folder(self, *command, expected=0):
        done = subprocess.run(command, cwd=self.path, env=self.environment, text=True, capture_output=True)
        self.assertEqual(done.returncode, expected, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compile(self, name, text, *flags):
        (self.path / name).write_text(text)
        packages = self.run_in_folder("pkg-config", "--cflags", "--libs", "kiln").split()
        self.run_in_folder(*COMPILER, "-std=c++20", "-I.", name, *packages, *flags)

    def program(self, included):
        return one([block for block in blocks("cpp") if "int main" in block and included in block])

    def test_the_first_program_compiles(self):
        (self.path / "cuda_runtime.h").write_text(CUDA_RUNTIME)
        self.compile("program.cpp", self.program("cuda_runtime.h"), "-fsyntax-only")

    def test_the_emulated_program_is_right_with_pkg_config(self):
        self.compile("app.cpp", self.program("EmulatedKernel"), "-o", "app")
        self.run_in_folder("./app")

    def test_the_emulated_program_is_right_with_cmake(self):
        (self.path / "app.cpp").write_text(self.program("EmulatedKernel"))
        (self.path / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\nadd_executable(app app.cpp)\n"
            + one(blocks("cmake")))
        self.run_in_folder(CMAKE, "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={PREFIX}",
                           f"-DCMAKE_CXX_COMPILER={COMPILER[0]}", f"-DCMAKE_CXX_FLAGS={' '.join(COMPILER[1:])}")
        self.run_in_folder(CMAKE, "--build", "build")
        self.run_in_folder("build/app")

    def test_the_launch_of_a_template_compiles(self):
        fragment = one([block for block in blocks("cpp") if "Template::from_file" in block])
        self.compile("launch.cpp", "#include <kiln/kiln.hpp>\nvoid run(const kiln::Service& service, unsigned blocks,"
                     f" float* y, const float* x, unsigned n) {{\n{fragment}}}\n", "-fsyntax-only")

    def test_the_shapes_of_permutations_compile(self):
        fragments = [block for block in blocks("cpp") if "permuter.get" in block and "int main" not in block]
        self.assertEqual(len(fragments), 2)
        body = "".join(f"{{\n{fragment}}}\n" for fragment in fragments)
        self.compile("shapes.cpp", "#include <kiln/kiln.hpp>\nvoid run(const kiln::Permuter& permuter,"
                     " const kiln::IndexMap& map, float* x, void* y, unsigned rows, std::vector<float> scale)"
                     f" {{\n{body}}}\n", "-fsyntax-only")

    def test_the_commands_of_the_program_do_what_they_say(self):
        template = one([block for block in blocks("cpp") if "// kiln: parameter" in block])
        (self.path / "scale.cu").write_text(template)
        (self.path / "plan.json").write_text('{"kiln_plan": 1, "kernels": [{"permutation": [2, 0, 3, 1]}]}')
        kiln = str(pathlib.Path(PREFIX) / "bin/kiln")
        self.run_in_folder(kiln, "compile", "scale.cu", "-D", "factor=2.5", "--emit", "source")
        if '"name":"nvrtc","health":"good"' not in subprocess.run(
                [kiln, "doctor", "--json"], env=self.environment, text=True, capture_output=True).stdout:
            self.skipTest("no NVRTC here")
        shown = [words for words in commands() if words[0] == "kiln"]
        self.assertGreaterEqual(len(shown), 4)
        for words in shown:
            for command in " ".join(words).split(";"):
                self.run_in_folder(kiln, *command.split()[1:])

    def test_the_lines_that_build_name_what_there_is(self):
        options = (ROOT / "CMakeLists.txt").read_text()
        configure = one([words for words in commands() if words[:2] == ["cmake", "-B"]])
        for option in re.findall(r"-D(KILN_\w+)=", " ".join(configure)):
            self.assertIn(f"option({option} ", options)
        presets = subprocess.run([CMAKE, "--list-presets"], cwd=ROOT, text=True, capture_output=True).stdout
        for preset in re.findall(r"--preset (\w+)", TEXT):
            self.assertIn(f'"{preset}"', presets)
        for words in commands():
            if words[0].startswith("scripts/"):
                self.assertTrue((ROOT / words[0]).exists(), words[0])


if __name__ == "__main__":
    unittest.main()
