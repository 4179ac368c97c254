"""The command line tool on a machine whose caches are called small, so that little memory will do.

Arrays are sized by the last-level cache, of which some machines have half a GiB.
"""

from __future__ import annotations

import sys
from unittest.mock import patch

import msgspec

from memgauge.__main__ import main
from memgauge.system.topology.caches import Caches, read_caches
from memgauge.system.tree import Tree

MOST_BYTES = 32 << 20


def read_small_caches(tree: Tree, online: list[int]) -> Caches:
    found = read_caches(tree, online)
    small = [
        msgspec.structs.replace(cache, bytes=min(cache.bytes, MOST_BYTES)) for cache in found.caches
    ]
    return found._replace(caches=small)


if __name__ == "__main__":
    with patch("memgauge.system.detect.read_caches", read_small_caches):
        sys.exit(main())
