"""Versions of what a run depends on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from memgauge.system.native import core_compiler


def software_versions() -> dict[str, str]:
    """Versions for `RunStart.software`; what cannot be determined is left out."""
    libc = " ".join(part for part in platform.libc_ver() if part)
    known = {
        "memgauge": memgauge_version(),
        "kernel": platform.release(),
        "libc": libc,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler": core_compiler(),
    }
    return {name: value for name, value in known.items() if value}


def memgauge_version() -> str:
    """Version of the installed package."""
    try:
        return version("memgauge")
    except PackageNotFoundError:
        return "not installed"
