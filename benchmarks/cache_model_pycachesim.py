"""STREAM's triad through pycachesim, by its best interface; run by an interpreter that has it.

Prints accesses in a second of processor time.
"""

import sys
from importlib import import_module
from time import process_time

BASE = 1 << 30
BATCH = 10_000


def main() -> None:
    """Simulate so many elements."""
    cachesim = import_module("cachesim")
    elements = int(sys.argv[1])
    memory = cachesim.MainMemory()
    l3 = cachesim.Cache("L3", 32768, 16, 64, "LRU")
    l2 = cachesim.Cache("L2", 1024, 16, 64, "LRU", store_to=l3, load_from=l3)
    l1 = cachesim.Cache("L1", 64, 8, 64, "LRU", store_to=l2, load_from=l2)
    memory.load_to(l3)
    memory.store_from(l3)
    simulator = cachesim.CacheSimulator(l1, memory)
    b, c = BASE + 8 * elements, BASE + 16 * elements
    taken = 0.0
    for begin in range(0, elements, BATCH):
        offsets = range(8 * begin, 8 * min(begin + BATCH, elements), 8)
        accesses = [((BASE + at, b + at), (c + at,)) for at in offsets]
        started = process_time()
        simulator.loadstore(accesses, length=8)
        taken += process_time() - started
    sys.stdout.write(f"{3 * elements / taken}\n")


if __name__ == "__main__":
    main()
