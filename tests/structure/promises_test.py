"""Every test that docs/reliability.md names is there: `Suite.Name`, or `Suite.*` for at least one of a suite."""

import pathlib
import re
import sys

TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)
NAMED = re.compile(r"`([A-Z]\w+)\.(\w+|\*)`")


def main():
    root = pathlib.Path(sys.argv[1])
    tests = set()
    for file in (root / "tests").rglob("*.cpp"):
        tests.update(TEST.findall(file.read_text()))
    suites = {suite for suite, _ in tests}
    named = NAMED.findall((root / "docs" / "reliability.md").read_text())
    missing = [f"{suite}.{name}" for suite, name in named
               if (suite not in suites if name == "*" else (suite, name) not in tests)]
    for test in missing:
        print(f"docs/reliability.md names {test}, which is no test")
    if len(named) < 50:
        print(f"docs/reliability.md names {len(named)} tests only: has its table changed its form?")
    return 1 if missing or len(named) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
