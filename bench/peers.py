#!/usr/bin/env python3
"""Puts Kiln's permutations beside what PyTorch and CuPy offer for the same shapes, on the same GPU.

Reads the file that `permute_bench --json FILE` wrote, measures the peers on every shape in it that is aligned and fills
memory, with the same map (a random one of their own where Kiln's was random), and writes one table (Markdown) and one
plot (SVG). All figures are ratios to a device-to-device copy of the same bytes, each taken in the process that measured
it; in a graph, ratios to the time of a copy.

    permute_bench --json permute.json
    python3 peers.py permute.json --table permute.md --plot permute.svg
"""

import argparse
import json
import math
import re
import statistics
import sys

import cupy
import torch

SHAPE = re.compile(
    r"^u(?P<bits>\d+) N=(?P<size>\d+)(?: inner (?P<inner>\d+))?(?P<map>(?: [a-z-]+)*?)"
    r"(?: rows (?P<rows>\d+) in a graph)?, (?P<what>.+)$"
)
TYPES = {8: torch.uint8, 16: torch.float16, 32: torch.float32, 64: torch.float64, 128: torch.complex128}
SAMPLES = 11
NODES = 200  # of a graph, as permute_bench has them
PEERS = ["x[:, perm]", "index_select", "torch.compile", "CuPy take"]


def read_shapes(file):
    """The shapes in the order of the file, each with what Kiln's program measured: {name: ratio}."""
    with open(file, encoding="utf-8") as stream:
        report = json.load(stream)
    shapes = {}
    for row in report["results"]:
        match = SHAPE.match(row["name"])
        if not match:
            continue
        shape = match.groupdict()
        what = shape.pop("what")
        ratio = row.get("of memcpy", row.get("of copy kernel's time"))
        if ratio is not None:
            shapes.setdefault(tuple(shape.items()), {})[what] = ratio
    return [(dict(shape), measured) for shape, measured in shapes.items()]


def median_ms(runs):
    """The median time of each of `runs`, which take turns."""
    times = [[] for _ in runs]
    for sample in range(SAMPLES + 1):
        for run, list_ in zip(runs, times):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            run()
            end.record()
            end.synchronize()
            if sample > 0:  # the first pays for what is lazy
                list_.append(begin.elapsed_time(end))
    return [statistics.median(list_) for list_ in times]


def peers_of(x, perm, with_compile):
    """What each peer runs: x[b, perm[j]] for x of shape (rows, size) or (rows, size, inner)."""
    select = torch.compile(lambda t, p: t[:, p], dynamic=False) if with_compile else None
    cupy_x, cupy_perm = cupy.asarray(x), cupy.asarray(perm)
    runs = {
        "x[:, perm]": lambda: x[:, perm],
        "index_select": lambda: torch.index_select(x, 1, perm),
        "CuPy take": lambda: cupy.take(cupy_x, cupy_perm, axis=1),
    }
    if select is not None:
        runs["torch.compile"] = lambda: select(x, perm)
    return runs


def sources_of(shape):
    """The map that permute_bench has for the shape (permute_shapes.hpp), or None for a random one."""
    size = int(shape["size"])
    kind, _, count = shape["map"].removesuffix(" long").strip().partition(" of ")
    channels = {"": 3, "two": 2, "four": 4}[count]
    factor = next(f for f in range(math.isqrt(size), 0, -1) if size % f == 0)
    bits = (size & -size).bit_length() - 1
    source_of = {
        "identity": lambda j: j,
        "reversal": lambda j: size - 1 - j,
        "rotation": lambda j: (j + size // 3) % size,
        "stride": lambda j: (j * (2 * factor + 1)) % size,
        "transpose": lambda j: j % factor * (size // factor) + j // factor,
        "planes to pixels": lambda j: j % channels * (size // channels) + j // channels,
        "pixels to planes": lambda j: j % (size // channels) * channels + j // (size // channels),
        "bit reversal": lambda j: int(f"{j:0{bits}b}"[::-1], 2),
    }
    return [source_of[kind](j) for j in range(size)] if kind else None


def perm_of(shape):
    sources = sources_of(shape)
    if sources is None:
        return torch.randperm(int(shape["size"]), device="cuda")
    return torch.tensor(sources, device="cuda")


def tensor_of(shape, rows):
    kind = TYPES[int(shape["bits"])]
    dims = (rows, int(shape["size"])) + ((int(shape["inner"]),) if shape["inner"] else ())
    size = math.prod(dims) * kind.itemsize
    return torch.randint(0, 255, (size,), dtype=torch.uint8, device="cuda").view(kind).view(dims)


def measure_large(shape, total_bytes, with_compile):
    row_bytes = int(shape["size"]) * int(shape["inner"] or 1) * int(shape["bits"]) // 8
    x = tensor_of(shape, max(1, total_bytes // row_bytes))
    perm = perm_of(shape)
    y = torch.empty_like(x)
    # complex128 is not compiled by Triton
    runs = peers_of(x, perm, with_compile and x.dtype != torch.complex128)
    times = median_ms([lambda: y.copy_(x), *runs.values()])
    return {name: times[0] / time for name, time in zip(runs, times[1:])}


def measure_in_graph(shape):
    x = tensor_of(shape, int(shape["rows"]))
    perm = perm_of(shape)
    y = torch.empty_like(x)
    runs = peers_of(x, perm, False)
    del runs["CuPy take"]  # allocates outside the pool of a graph
    graphs = []
    for run in [lambda: y.copy_(x), *runs.values()]:
        run()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(NODES):
                run()
        graphs.append(graph)
    times = median_ms([graph.replay for graph in graphs])
    return {name: time / NODES * 1e3 for name, time in zip(runs, times[1:])}


def name_of(shape):
    kind = f"{int(shape['bits']) // 8}-byte N={shape['size']}"
    return kind + (f" inner {shape['inner']}" if shape["inner"] else "") + (shape["map"] or "")


def kiln_of(measured):
    return next(((what, ratio) for what, ratio in measured.items() if what.startswith("kiln")), None)


def rows_of(shapes, options):
    """One row a shape that fills memory: its name, Kiln's strategy, and the ratios of all."""
    for shape, measured in shapes:
        kiln = kiln_of(measured)
        if kiln is None or shape["rows"] or " as " in shape["map"]:  # a strategy that was asked for
            continue
        peers = measure_large(shape, options.bytes, options.compile)
        peers["table kernel"] = measured.get("table kernel")
        peers["copy kernel"] = measured.get("copy kernel")
        yield name_of(shape), kiln[0].removeprefix("kiln "), kiln[1], peers
        torch.cuda.empty_cache()
        cupy.get_default_memory_pool().free_all_blocks()


def write_table(rows, file):
    columns = ["copy kernel", "table kernel", *PEERS]
    lines = [
        "| shape | strategy | Kiln | " + " | ".join(columns) + " |",
        "|---|---|---|" + "---|" * len(columns),
    ]
    for name, strategy, ratio, peers in rows:
        cells = [f"{peers[column]:.2f}" if peers.get(column) else "–" for column in columns]
        lines.append(f"| {name} | {strategy} | **{ratio:.2f}** | " + " | ".join(cells) + " |")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")


def write_plot(rows, file):
    import matplotlib  # only where a plot is asked for

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "kiln"  # the same figures give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10, 0.28 * len(rows) + 1.2))
    places = range(len(rows))
    best = [max((peers.get(peer) or 0) for peer in [*PEERS, "table kernel"]) for _, _, _, peers in rows]
    axes.barh(places, [ratio for _, _, ratio, _ in rows], height=0.7, color="#c0562f", label="Kiln")
    axes.barh(places, best, height=0.3, color="#333333", label="best of PyTorch, CuPy and the table kernel")
    axes.set_yticks(places, [name for name, _, _, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="#888888", linewidth=0.8)
    axes.set_xlabel("speed, cudaMemcpyAsync = 1")
    axes.margins(y=0.01)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2, frameon=False, fontsize=8)
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kiln", help="what permute_bench --json wrote")
    parser.add_argument("--bytes", type=int, default=1 << 30, help="of x; as given to permute_bench")
    parser.add_argument("--compile", action="store_true", help="torch.compile as well: seconds a shape")
    parser.add_argument("--table", required=True, help="Markdown file to write")
    parser.add_argument("--plot", help="SVG file to write")
    options = parser.parse_args()

    shapes = read_shapes(options.kiln)
    if not shapes:
        sys.exit(f"{options.kiln} holds no permutations: make it with permute_bench --json")
    rows = []
    for row in rows_of(shapes, options):
        rows.append(row)
        name, strategy, ratio, peers = row
        best = max((value, peer) for peer, value in peers.items() if value and peer != "copy kernel")
        print(f"{name:32} {strategy:10} {ratio:.3f}   best peer {best[0]:.3f} ({best[1]})", flush=True)
    slower = [row[0] for row in rows if row[2] < max(v for p, v in row[3].items() if v and p != "copy kernel")]
    print("slower than a peer: " + (", ".join(slower) if slower else "none"))
    for shape, measured in shapes:
        if shape["rows"]:
            peers = ", ".join(f"{peer} {time:.2f} us" for peer, time in measure_in_graph(shape).items())
            print(f"{name_of(shape)}, {shape['rows']} rows, one node of a graph: {peers}")
    write_table(rows, options.table)
    if options.plot:
        write_plot(rows, options.plot)


if __name__ == "__main__":
    main()
