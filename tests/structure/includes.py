"""Who may include whom. Reads the #include lines of include/ and src/ under a root folder; prints what breaks a rule.

support <- core <- (jit | cache) <- service <- permutation <- plan; emulation stands on service and on permutation's
values; the C API and the program use public headers and their own files only.
"""

import pathlib
import re
import sys

CORE = {"support", "core"}
SERVICE = CORE | {"jit", "cache", "service"}
EVERYTHING = SERVICE | {"permutation", "plan", "emulation"}
LAYERS = {
    "support": {"support"},
    "core": CORE,
    "jit": CORE | {"jit"},
    "cache": CORE | {"cache"},
    "service": SERVICE,
    "permutation": SERVICE | {"permutation"},
    "plan": SERVICE | {"permutation", "plan"},
    "emulation": SERVICE | {"emulation"},
    "c_api": {"c_api"},
    "cli": {"cli"},
}
# The layer that a public header speaks for, where it is not the values of core.
PUBLIC = {
    "device.hpp": "jit",
    "kernel.hpp": "jit",
    "service.hpp": "service",
    "doctor.hpp": "service",
    "index_map.hpp": "permutation",
    "permuter.hpp": "permutation",
    "plan.hpp": "service",
    "emulator.hpp": "emulation",
    "kiln.h": "c_api",
    "kiln.hpp": "c_api",
}
# Layers that stand on the whole public API, whatever layer a header of it speaks for.
CLIENTS = {"c_api", "cli"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def included(file):
    return [(match[1] == "<", match[2]) for match in INCLUDE.finditer(file.read_text())]


def check_public(file):
    """A public header includes the standard library and public headers, nothing else."""
    own = PUBLIC.get(file.name, "core")
    allowed = EVERYTHING if own in CLIENTS else LAYERS[own]
    for angled, name in included(file):
        if angled:
            if "/" in name or (name.endswith(".h") and file.suffix != ".h"):
                yield f"{file}: public headers include no third-party header, but this one includes <{name}>"
        elif not name.startswith("kiln/"):
            yield f'{file}: public headers include "kiln/…" only, but this one includes "{name}"'
        elif PUBLIC.get(name[len("kiln/"):], "core") not in allowed:
            yield f"{file}: a header of layer {own} may not include {name}"


def check_source(file, layer):
    """A file of a layer includes the layers below it; other layers not even through their public headers."""
    for angled, name in included(file):
        folder, _, rest = name.partition("/")
        if folder == "kiln":
            target = PUBLIC.get(rest, "core")
            fits = layer in CLIENTS or target in LAYERS[layer]
        elif folder in LAYERS and rest:
            target, fits = folder, folder in LAYERS[layer]
        else:
            continue
        if not fits:
            yield f"{file}: layer {layer} may not include {name}, which belongs to {target}"
        if angled and folder in LAYERS:
            yield f'{file}: write "{name}" in quotes: it is a file of this project'


def check(root):
    root = pathlib.Path(root)
    for file in sorted((root / "include" / "kiln").rglob("*.h*")):
        yield from check_public(file)
    for file in sorted((root / "src").rglob("*")):
        if file.suffix not in {".cpp", ".hpp", ".h"}:
            continue
        layer = file.relative_to(root / "src").parts[0]
        if layer in LAYERS:
            yield from check_source(file, layer)
        else:
            yield f"{file}: is in no known layer"


if __name__ == "__main__":
    problems = list(check(sys.argv[1]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
