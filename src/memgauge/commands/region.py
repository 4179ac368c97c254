"""`memgauge region`: how a C, C++ or Fortran program is built with marks of its regions."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from memgauge.model.errors import RequestError
from memgauge.system.native import installed_file

HEADER = Path("include") / "memgauge" / "region.h"
LIBRARY = Path("lib") / "libmemgauge_region.so"
ARCHIVE = Path("lib") / "libmemgauge_region.a"


@click.command("region")
@click.option("--cflags", is_flag=True, help="print what the compiler needs to find the header")
@click.option("--libs", is_flag=True, help="print what the linker needs")
@click.option("--static", is_flag=True, help="link the library into the program")
def command(*, cflags: bool, libs: bool, static: bool) -> None:
    """Print how to build a program that marks its regions for 'memgauge profile'.

    As in: cc main.c $(memgauge region --cflags --libs). The program includes memgauge/region.h and
    calls memgauge_region_begin("name") and memgauge_region_end("name"), in C++ also through
    memgauge::Region. Without options: both.

    \N{FORM FEED}

    Args:
        cflags: Whether to print the compiler's options; if `libs` is not set either, both are.
        libs: Whether to print the linker's options; see `cflags`.
        static: Whether the linker's options name the archive instead of the shared library.
    """
    both = not (cflags or libs)
    words: list[str] = []
    if cflags or both:
        words.append(f"-I{found(HEADER).parent.parent}")
    if static and (libs or both):
        words.append(str(found(ARCHIVE)))
    elif libs or both:
        folder = found(LIBRARY).parent
        words += [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lmemgauge_region"]
    click.echo(shlex.join(words))


def found(path: Path) -> Path:
    """A file of the installed package; an editable install keeps what was built beside the core.

    Raises:
        RequestError: it was not built.
    """
    file = installed_file(path)
    if file is not None:
        return file
    raise RequestError(
        f"{path.name}: is missing from this installation of memgauge; reinstall it with pip"
    )
