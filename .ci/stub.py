"""Write the stub of the package from the declared options: python .ci/stub.py FILE [--check].

Editors and type checkers then know the options of every function.
"""

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import memgauge
from memgauge import api, signatures
from memgauge.model.experiments import SURVEYED

HEAD = '''"""The functions of the package. Written by `make generated`; do not edit."""

from collections.abc import Sequence
from typing import Any

'''
IMPORTED = {
    "memgauge.api": (
        "add_to_store",
        "combined",
        "compare",
        "counters",
        "counters_compare",
        "counters_verify",
        "events",
        "load",
        "machine",
        "published",
        "region",
        "repeat",
        "simulate",
        "survey_plan",
        "system",
        "tool_output",
        "trend",
    ),
    "memgauge.model.errors": ("MemgaugeError",),
    "memgauge.results": ("Result",),
}


def main() -> int:
    """Write or compare the stub."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    made = stub()
    if not asked.check:
        asked.file.write_text(made, encoding="utf-8")
        return 0
    if asked.file.read_text(encoding="utf-8") == made:
        return 0
    sys.stderr.write(f"{asked.file}: not as the options are; run 'make generated'\n")
    return 1


def stub() -> str:
    """The text of the stub."""
    known = {name for names in IMPORTED.values() for name in names} | {*signatures.NAMES}
    missing = set(memgauge.__all__) - known
    if missing:
        raise SystemExit(f"stub: says nothing of {', '.join(sorted(missing))}")
    lines = [
        f"from {module} import {name} as {name}"
        for module, names in IMPORTED.items()
        for name in names
    ]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in memgauge.__all__), "]", ""]
    for name in signatures.NAMES:
        lines += function(name)
    return (HEAD + "\n".join(lines)).rstrip() + "\n"


def function(name: str) -> Iterator[str]:
    """The lines of one function."""
    real = api.experiment(name) if name in SURVEYED else getattr(api, name)
    text = " ".join(inspect.cleandoc(real.__doc__ or "").split("\n\n")[0].split())
    summary = f"{text.partition('. ')[0].rstrip('.')}."
    own = [
        one
        for one in inspect.signature(inspect.unwrap(real)).parameters.values()
        if one.name != "options" and one.annotation is not inspect.Parameter.empty
    ]
    options = signatures.options_of(name)
    keywords = {one.keyword for one in options}
    own = [one for one in own if one.name not in keywords]
    positional = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    keyword = [one for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]
    yield f"def {name}("
    for one in positional:
        yield f"    {one.name}: {one.annotation}{_default(one)},"
    yield "    *,"
    for one in keyword:
        yield f"    {one.name}: {one.annotation}{_default(one)},"
    for option in options:
        yield f"    {option.keyword}: {option.type} = ...,"
    yield ") -> Result:"
    yield f'    """{summary}"""'
    yield ""


def _default(one: inspect.Parameter) -> str:
    return "" if one.default is inspect.Parameter.empty else " = ..."


if __name__ == "__main__":
    sys.exit(main())
