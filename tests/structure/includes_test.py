"""The include rules hold in the tree, and the reader notices when one is broken."""

import pathlib
import sys
import tempfile
import unittest

import includes

ROOT = pathlib.Path(sys.argv.pop())


class IncludesTest(unittest.TestCase):
    def problems(self, path, text):
        with tempfile.TemporaryDirectory() as root:
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            return list(includes.check(root))

    def refuses(self, path, text):
        found = self.problems(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(path, found[0])

    def accepts(self, path, text):
        self.assertEqual(self.problems(path, text), [])

    def test_tree(self):
        self.assertEqual(list(includes.check(ROOT)), [])

    def test_one_header_has_it_all(self):
        folder = ROOT / "include" / "kiln"
        names = {f"kiln/{file.name}" for file in folder.glob("*.hpp")} - {"kiln/kiln.hpp"}
        self.assertGreater(len(names), 10)
        self.assertEqual({name for _, name in includes.included(folder / "kiln.hpp")}, names)

    def test_both_halves_stay_apart(self):
        self.refuses("src/jit/a.cpp", '#include "cache/spec.hpp"\n')
        self.refuses("src/cache/a.cpp", '  #  include "jit/nvrtc.hpp"\n')

    def test_lower_layers_know_nothing_of_higher_ones(self):
        self.refuses("src/support/a.hpp", '#include "core/environment.hpp"\n')
        self.refuses("src/core/a.cpp", '#include "service/request.hpp"\n')
        self.refuses("src/cache/a.cpp", '#include "kiln/service.hpp"\n')
        self.refuses("src/service/a.cpp", '#include "permutation/plan.hpp"\n')

    def test_clients_use_the_public_api(self):
        self.refuses("src/cli/a.cpp", '#include "core/environment.hpp"\n')
        self.refuses("src/c_api/a.cpp", '#include "service/request.hpp"\n')
        self.accepts("src/cli/a.cpp", '#include <CLI/CLI.hpp>\n#include "cli/b.hpp"\n#include "kiln/permuter.hpp"\n')

    def test_allowed_directions(self):
        self.accepts("src/service/a.cpp", '#include "cache/spec.hpp"\n#include "jit/nvrtc.hpp"\n#include <sqlite3.h>\n')
        self.accepts("src/permutation/a.cpp", '#include "kiln/service.hpp"\n#include <vector>\n')

    def test_unknown_layer(self):
        self.refuses("src/misc/a.cpp", "")

    def test_public_headers_hide_third_parties(self):
        self.refuses("include/kiln/a.hpp", "#include <sqlite3.h>\n")
        self.refuses("include/kiln/a.hpp", "#include <nlohmann/json.hpp>\n")
        self.refuses("include/kiln/a.hpp", '#include "cuda.h"\n')
        self.refuses("include/kiln/a.hpp", '#include "kiln/service.hpp"\n')
        self.refuses("include/kiln/artifact.hpp", '#include "jit/driver.hpp"\n')
        self.accepts("include/kiln/kiln.h", '#include <stddef.h>\n#include "kiln/export.h"\n')


if __name__ == "__main__":
    unittest.main()
