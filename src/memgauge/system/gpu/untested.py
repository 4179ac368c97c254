"""What has not run on a GPU so far, for the notice that stands beside its figures.

Remove a notice together with the page in docs/results that shows the code at work on a GPU.
"""

from __future__ import annotations


def untested_on_gpu(library: str) -> str:
    """The notice about code that was tested only with a stand-in for a library."""
    return f"this version of memgauge was tested against a stand-in for {library}, not on a GPU"
