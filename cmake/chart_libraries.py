"""Write the chart libraries of pages as one script: chart_libraries.py BUNDLES OUTPUT.

The build calls this once for a wheel, so that an installation needs no vl-convert, which contains
the libraries. Where vl-convert is missing nothing is written: the pages then have no charts, unless
vl-convert is there when they are made.
"""

import hashlib
import sys
import tomllib
from pathlib import Path


def main(bundles: Path, output: Path) -> None:
    """Write the script, or state why there is none. Exits with 1 if it is not the known one."""
    known = tomllib.loads(bundles.read_text(encoding="utf-8"))
    output.unlink(missing_ok=True)
    try:
        import vl_convert
    except ImportError as error:
        sys.stderr.write(f"chart_libraries: the pages will have no charts: {error}\n")
        return
    version = vl_convert.__version__
    script = vl_convert.javascript_bundle(known["snippet"]).encode()
    digest = hashlib.sha256(script).hexdigest()
    if known["sha256"].get(version, digest) != digest:
        sys.exit(f"chart_libraries: {digest} is not the digest that {bundles} has for {version}")
    output.write_bytes(script)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
