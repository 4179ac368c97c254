"""Where Performance Co-Pilot is: unpacked by `.ci/unpack_pcp`, or installed."""

from __future__ import annotations

import ctypes
import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / "build" / "pcp"
MISSING = "no Performance Co-Pilot here; 'make test' unpacks Debian's into build/pcp"
LIBRARIES = ("libpcp.so.4", "libpcp.so.3")


@dataclass(frozen=True)
class Installation:
    """A PCP that may stand anywhere: its files name paths below `/`, which are below `root`."""

    root: Path

    @property
    def libraries(self) -> list[Path]:
        """The directories of shared libraries, for `LD_LIBRARY_PATH`."""
        library = self.root / "usr" / "lib"
        return [library, *(each for each in library.glob("*-linux-*") if each.is_dir())]

    @property
    def library(self) -> Path | None:
        """The client library."""
        found = (folder / name for name in LIBRARIES for folder in self.libraries)
        return next((path for path in found if path.exists()), None)

    @property
    def daemon(self) -> Path:
        """The program pmcd."""
        return self._below("bin/pmcd")

    def agent(self, path: str) -> Path:
        """A file of an agent, such as `mmv/pmda_mmv.so`."""
        return self._below(f"pmdas/{path}")

    def _below(self, path: str) -> Path:
        places = [self.root / "usr" / place / "pcp" / path for place in ("lib", "libexec")]
        return next((place for place in places if place.exists()), places[0])

    def environment(self) -> dict[str, str]:
        """What a program needs to find the libraries."""
        if self.root == Path("/"):
            return {}
        return {"LD_LIBRARY_PATH": ":".join(map(str, self.libraries))}

    def copied_to(self, folder: Path) -> Installation:
        """A copy that any user may read, wherever the checkout stands."""
        copy = folder / "pcp"
        for part in ("bin/pmcd", "bin/pmcpp", "pmdas/mmv", "pmdas/pmcd", "pmdas/perfevent"):
            source = self._below(part)
            target = copy / source.relative_to(self.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy2(source, target)
        for library in self.libraries:
            target = copy / library.relative_to(self.root)
            target.mkdir(parents=True, exist_ok=True)
            for file in library.glob("lib*.so*"):
                shutil.copy2(file, target)
        (copy / "etc").mkdir()
        shutil.copy2(self.root / "etc" / "pcp.conf", copy / "etc")
        return Installation(copy)

    def preload(self) -> None:
        """Load the client library into this process, where its name then finds it."""
        for name in ("libsasl2.so.2", None):
            path = self.library if name is None else self._library(name)
            if path is not None and self.root != Path("/"):
                ctypes.CDLL(str(path), mode=os.RTLD_GLOBAL)

    def _library(self, name: str) -> Path | None:
        found = (folder / name for folder in self.libraries)
        return next((path for path in found if path.exists()), None)


@cache
def installation() -> Installation | None:
    """The one to test with; None: none is here."""
    for root in (UNPACKED, Path("/")):
        found = Installation(root)
        if (root / "etc" / "pcp.conf").exists() and found.daemon.exists() and found.library:
            return found
    return None
