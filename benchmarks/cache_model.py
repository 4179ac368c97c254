"""The cache model's speed, against pycachesim and cachegrind on the same trace.

    python -m benchmarks.cache_model [--peer-python PYTHON] [--peer-source DIR] [--gemm 1024]

Millions of element accesses counted in a second of processor time, three levels, LRU. `each
access`: arrays that fill the last level once, so that nothing can repeat and each access is
simulated. `periods skipped`: arrays several times as large; once the caches are full, the model
counts whole periods of the loop without simulating them. The trace shared with peers is STREAM's
triad, each access simulated. `--peer-python` is an interpreter that has pycachesim, `--peer-source`
the folder of its backend.c. What is missing is said and left out.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import tempfile
from array import array
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import harmonic_mean, median
from time import perf_counter, process_time

from benchmarks.rounds import Ratios, table
from memgauge import _core

HERE = Path(__file__).parent
STREAM_ELEMENTS = 10_000_000
FILLING_ELEMENTS = 1_398_101
"""Three such arrays fill the last level."""
FILLING_SQUARE = 1448
"""Two squares of so many rows and columns do."""
FILLINGS = 7
EACH_TRIAD = "STREAM triad, each access"
PEER_ELEMENTS = 1_000_000
BASE = 1 << 30
KIB, MIB = 1 << 10, 1 << 20

Rate = Callable[[], float]


def machine() -> _core.CacheMachine:
    """Three levels as many servers have them."""
    sizes = [("L1", 32 * KIB, 8), ("L2", MIB, 16), ("L3", 32 * MIB, 16)]
    levels = [_core.CacheLevel(name=name, bytes=size, ways=ways) for name, size, ways in sizes]
    return _core.CacheMachine(name="three levels", levels=levels)


def power9() -> _core.CacheMachine:
    """A core with the slice of its pair."""
    sizes = [("L1", 32 * KIB, 8), ("L2", 512 * KIB, 8), ("L3", 10 * MIB, 20)]
    levels = [_core.CacheLevel(name=name, bytes=size, ways=ways) for name, size, ways in sizes]
    return _core.CacheMachine(name="power9", levels=levels, line_bytes=128, store_lines=2)


def each_access(rate: Callable[[int], float], size: int) -> Rate:
    """The mean rate over several fillings of the caches."""
    return lambda: harmonic_mean(rate(size) for _ in range(FILLINGS))


def triad(elements: int) -> float:
    """Accesses of a[i] = b[i] + s c[i] in a second."""
    model = _core.CacheModel(machine())
    arrays = [BASE + i * 8 * elements for i in range(3)]
    kinds = ["load", "load", "store"]
    begin = process_time()
    model.walk([(at, 8, 8, kind) for at, kind in zip(arrays, kinds, strict=True)], elements)
    return 3 * elements / (process_time() - begin)


def stencil5(n: int) -> float:
    """Of a five-point stencil on a square."""
    model = _core.CacheModel(machine())
    first, row = BASE + 8 * n + 8, 8 * n
    loads = [first + shift for shift in (-8, 8, -row, row, 0)]
    references = [(at, 8, 8, "load") for at in loads] + [(first + row * n, 8, 8, "store")]
    begin = process_time()
    model.walk(references, n - 2, outer=n - 2, outer_strides=[row] * len(references))
    return len(references) * (n - 2) ** 2 / (process_time() - begin)


def stencil7(n: int = 200) -> float:
    """Of a seven-point stencil on a cube."""
    return 8 * (n - 2) ** 3 / stencil7_seconds(n, process_time)


def stencil7_seconds(n: int, clock: Callable[[], float], threads: int = 1) -> float:
    """Time of one by a clock."""
    model = _core.CacheModel(machine(), threads=threads)
    row, plane = 8 * n, 8 * n * n
    begin = clock()
    for z in range(1, n - 1):
        at = BASE + z * plane + row + 8
        loads = [at + shift for shift in (-8, 8, -row, row, -plane, plane, 0)]
        references = [(load, 8, 8, "load") for load in loads] + [(at + n * plane, 8, 8, "store")]
        model.walk(references, n - 2, outer=n - 2, outer_strides=[row] * len(references))
    model.counts()
    return clock() - begin


def random_lines(count: int = 1 << 20) -> float:
    """Of lines at random that fill half of level 2."""
    model = _core.CacheModel(machine())
    lines = MIB // 2 // 64
    choose = random.Random(1)
    addresses = array("Q", [BASE + 64 * choose.randrange(lines) for _ in range(count)])
    model.access(addresses)
    begin = process_time()
    for _ in range(4):
        model.access(addresses)
    return 4 * count / (process_time() - begin)


def gemm_seconds(n: int, rows: int, threads: int = 1) -> float:
    """Wall time of so many rows of a product of matrices through POWER9's caches."""
    model = _core.CacheModel(power9(), threads=threads)
    a, b, c = (BASE + i * 8 * n * n for i in range(3))
    begin = perf_counter()
    for i in range(rows):
        references = [(a + 8 * n * i, 8, 8, "load"), (b, 8 * n, 8, "load")]
        sums = [(c + 8 * n * i, 8, 8, "store")]
        model.walk(references, n, outer=n, outer_strides=[0, 8], after=sums)
    model.counts()
    return perf_counter() - begin


def product_seconds(n: int) -> float:
    """Wall time of a whole product, of which rows that repeat earlier ones are not simulated."""
    model = _core.CacheModel(power9())
    a, b, c = (BASE + i * 8 * n * n for i in range(3))
    begin = perf_counter()
    _core.simulate_nest(_core.NestSpec("gemm", n=n), [[a, b, c]], model)
    model.counts()
    return perf_counter() - begin


def children_s(command: list[str]) -> float:
    """Processor time of a command."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def difference_rate(command: Callable[[int], list[str]]) -> float:
    """Of a program's triad: what it takes more than with no elements."""
    elements = PEER_ELEMENTS
    return 3 * elements / (children_s(command(elements)) - children_s(command(0)))


def compiled(source: str, folder: Path, *options: str) -> list[str]:
    """A program built from a C file beside this one."""
    program = folder / Path(source).stem
    subprocess.run(
        ["cc", "-O2", *options, "-o", str(program), str(HERE / source)],
        check=True,
        capture_output=True,
    )
    return [str(program)]


def peers(args: argparse.Namespace, folder: Path) -> dict[str, tuple[Rate, float]]:
    """Their rates on the triad, and how many times faster the model is meant to be."""
    found: dict[str, tuple[Rate, float]] = {}
    if shutil.which("cc") is None:
        print("no C compiler: no peer but pycachesim from Python")
    elif shutil.which("valgrind") is None:
        print("cachegrind: no valgrind on PATH")
    else:
        triad_c = compiled("cache_model_triad.c", folder)
        options = ["valgrind", "--tool=cachegrind", "--cache-sim=yes"]
        out = f"--cachegrind-out-file={folder}/cachegrind"
        grind = [*options, out, "--D1=32768,8,64", "--LL=33554432,16,64", *triad_c]
        found["cachegrind"] = (lambda: difference_rate(lambda n: [*grind, str(n)]), 5)
    if args.peer_source is None:
        print("pycachesim's C core: no --peer-source")
    elif shutil.which("cc") is not None:
        core = compiled("cache_model_pycachesim.c", folder, f"-I{args.peer_source}", "-DNO_PYTHON")
        found["pycachesim, C"] = (lambda: difference_rate(lambda n: [*core, str(n)]), 9)
    if args.peer_python is None:
        print("pycachesim from Python: no --peer-python")
    else:
        script = [args.peer_python, str(HERE / "cache_model_pycachesim.py"), str(PEER_ELEMENTS)]
        found["pycachesim, Python"] = (lambda: float(subprocess.check_output(script)), 25)
    return found


def speeds(rounds: int, others: dict[str, tuple[Rate, float]]) -> None:
    """Print the model's rates and the ratios to the peers', taken in turn."""
    own: dict[str, tuple[Rate, float]] = {
        EACH_TRIAD: (each_access(triad, FILLING_ELEMENTS), 600),
        "stencil, 5 points, each access": (each_access(stencil5, FILLING_SQUARE), 1200),
        "stencil, 7 points, each access": (stencil7, 1200),
        "random lines in L2, each access": (random_lines, 100),
        "STREAM triad, periods skipped": (lambda: triad(STREAM_ELEMENTS), 600),
        "stencil, 5 points, periods skipped": (lambda: stencil5(3000), 1200),
    }
    rates: dict[str, list[float]] = {name: [] for name in (*own, *others)}
    ratios = {name: Ratios() for name in others}
    for _ in range(rounds):
        for name, (rate, _least) in (*own.items(), *others.items()):
            rates[name].append(rate() / 1e6)
        for name, ratio in ratios.items():
            ratio.values.append(rates[EACH_TRIAD][-1] / rates[name][-1])
    lines = [
        [name, f"{median(of):.1f}", f"{min(of):.1f}..{max(of):.1f}", goal(name, own, others)]
        for name, of in rates.items()
    ]
    print(table(["M accesses/s", "median", "range", "goal"], lines))
    rows = [
        [f"triad / {name}", ratio.text(), f"{others[name][1]:g}"] for name, ratio in ratios.items()
    ]
    print("\n" + table(["ratio", "median (middle half)", "goal"], rows))


def goal(
    name: str, own: dict[str, tuple[Rate, float]], others: dict[str, tuple[Rate, float]]
) -> str:
    """What was asked of a rate."""
    return f"{own[name][1]:g}" if name in own else f"1/{others[name][1]:g} of triad"


def products(n: int, rounds: int) -> None:
    """Print the time of a product of matrices, and what a second thread saves."""
    whole = product_seconds(n)
    print(f"\nGEMM, N = {n}, POWER9: {whole:.1f} s ({2 * n**3 / whole / 1e6:.0f} M accesses/s)")
    saved = Ratios()
    for _ in range(rounds):
        saved.values.append(gemm_seconds(n, 32) / gemm_seconds(n, 32, threads=2))
    print(f"32 rows of it, one thread / two: {saved.text()}")


def shared(rounds: int) -> None:
    """Print what a second thread saves of a stencil."""
    saved = Ratios()
    for _ in range(rounds):
        one, two = (stencil7_seconds(200, perf_counter, threads) for threads in (1, 2))
        saved.values.append(one / two)
    print(f"\nstencil, 7 points, one thread / two: {saved.text()}")


def main() -> None:
    """Parse arguments, measure in turn, print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gemm", type=int, default=1024, help="N of the product; 0: none")
    parser.add_argument("--peer-python", help="interpreter that has pycachesim")
    parser.add_argument("--peer-source", type=Path, help="folder of pycachesim's backend.c")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        speeds(args.rounds, peers(args, Path(folder)))
    shared(args.rounds)
    if args.gemm:
        products(args.gemm, args.rounds)


if __name__ == "__main__":
    main()
