"""The system's loader of shared libraries."""

from __future__ import annotations

import ctypes


def is_loadable(library: str) -> bool:
    """Whether the loader finds a library by its name or path, and all that it needs.

    Args:
        library: A soname or a path; what is found stays loaded.
    """
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
