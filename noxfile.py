"""Sessions over the Makefile's targets, which define each step: nox -l lists them, nox runs them.

The Python tests run under every supported Python that is found, each in an environment of its own;
the rest shares the Makefile's.
"""

import shutil

import nox

nox.options.default_venv_backend = "none"
nox.options.error_on_missing_interpreters = False

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def make(session: nox.Session, *arguments: str) -> None:
    session.run("make", "--no-print-directory", *arguments, *session.posargs, external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff, clang-format, shellcheck and clang-tidy."""
    make(session, "lint")


@nox.session
def types(session: nox.Session) -> None:
    """Run strict mypy."""
    make(session, "types")


@nox.session
def core(session: nox.Session) -> None:
    """Run the C++ tests, plain and under the sanitizers."""
    make(session, "core-test")
    make(session, "sanitize")


@nox.session
def cross(session: nox.Session) -> None:
    """Run the C++ tests of aarch64 and ppc64le under qemu-user."""
    make(session, "cross-test")


@nox.session
def wheel(session: nox.Session) -> None:
    """Build and check the source archive and the wheel."""
    make(session, "wheel")


@nox.session
@nox.parametrize("python", PYTHONS)
def tests(session: nox.Session, python: str) -> None:
    """Run the Python tests: nox -s tests -- ARGS=tests/unit/test_layers.py."""
    interpreter = f"python{python}"
    if shutil.which(interpreter) is None:
        session.skip(f"no {interpreter} on PATH")
    make(session, "test", f"PYTHON={interpreter}", f"VENV=.nox/venv-{python}")
