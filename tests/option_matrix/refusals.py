"""What a combination of options may be refused for; any other refusal is a fault.

Each begins, or has in it, what it is about: an option, an experiment, a kind of memory.
"""

from __future__ import annotations

import re

ALLOWED = tuple(
    re.compile(pattern)
    for pattern in (
        # This machine lacks it.
        r"--pages (2m|1g): no explicit huge page of that size is free; ",
        r"--pages (2m|1g): the arrays need .* in huge pages of .*, of which .* are free; use ",
        r"cannot map .* in explicit pages of .*: pages needed: \d+, free: \d+; as root: echo ",
        r"no counter of memory traffic (here|can be opened)",
        r"counters compare: no counter of memory traffic here",
        r"(numa|interleave): this machine has memory on one node only",
        r"(loaded|tiers|core-to-core): only one CPU can be used",
        r"--threads \d+: .* need one CPU each, but only \d+ (can be|are) .*; use at most \d+$",
        r"cannot take .* of shared memory in transparent huge pages: they are switched off",
        r"tiers: this machine has one tier of memory",
        r"transfers: measures transfers to and from a GPU, and --memory \S+ is not a GPU",
        # The experiment does not have it.
        r"--threads: .*; omit --threads",
        r"--threads, --memory: every node's memory is loaded by its own CPUs; leave them out",
        r"--memory \S+: (numa|interleave|core-to-core) measures .*; leave --memory out",
        r"--(grid|cap|stride): is an option of .*, not of .*; leave it out$",
        r"--\S+: does not apply to cuda:0, .*; leave --\S+ out$",
        r"--\S+: beside transfers to a GPU .*; leave --\S+ out$",
        # Two options exclude each other.
        r"--b and --\S+ both specify what group B uses; leave one out$",
        r"--nvm and --memory both name the second memory; leave one out$",
        r"--preset: group A is dram:dram in all of them; leave --a out, or --preset$",
        r"--sizes and --largest-bytes are mutually exclusive; leave one out$",
        r"--kernel combines none with loop nests; write one of both$",
        r"--batched, --threads: .*; omit one of them$",
        r"--runs: nothing is counted; add --counters auto, or leave --runs out$",
        r"--prefetch: only the tuned kernels prefetch; .*, or leave --prefetch out$",
        r"--counters: nothing is run with --simulate-only, .*; leave one out$",
        r"--latency: all threads work until the probe is done, .*; leave one out$",
        r"--simulate-only: no machine is to be simulated; name one with --machine$",
        # Kernels, stores and accesses that there are not.
        r"--access translated: (only objects in a pool|addresses are translated in a pool only)",
        r"--access translated: (only the plain loops|a tuned kernel|a mix) ",
        r"no kernel combines --access \S+, --store .*; choose others$",
        r"--store non-temporal: a plain loop has no such stores",
        r"--store non-temporal: kernel \S+ has no stores of this kind",
        r"--store flushed: mixes have no such stores",
        r"--delay-a, --delay-b: mixes make pauses, kernels do not; give --read-share",
        r"--transfer: transfers go to and from a GPU; name one with --b cuda:0$",
        r"--element float: mixes move doubles only, .*; leave --element out",
        # The file system of a pool, or of a file, decides its pages.
        r"cannot take .* of the pool .* in pages '\S+': .*; use --pages auto",
        r"cannot take .* in transparent huge pages: this tmpfs is mounted without them; ",
        r"cannot take .* in pages '(2m|1g)': only a file in hugetlbfs has such pages ",
    )
)


def is_allowed(message: str) -> bool:
    """Whether a combination may be refused so."""
    return any(pattern.match(message) for pattern in ALLOWED)
