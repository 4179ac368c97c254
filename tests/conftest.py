"""What all tests share: hypothesis profiles, and skips that say what is missing."""

import gc
import importlib.util
import os
import shutil
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.gpu_stand_in import gpu_stand_in  # noqa: F401  a fixture
from tests.skips import counted, excess

# A shared or emulated processor stalls at any time: no test fails for being slow.
settings.register_profile(
    "default",
    max_examples=60,  # `make fuzz` searches for hours
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
# The same examples in each run on the same tree, so that more of them would soon find nothing new.
settings.register_profile(
    "ci", settings.get_profile("default"), max_examples=30, derandomize=True, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# A shell's background job and what nohup starts have these ignored, and programs inherit that.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

PASSED = pytest.StashKey[bool]()
"""Of a test: whether every phase of it that ended so far passed."""
LONGEST_ID = 100
"""Characters of a parameter in a test's name, which goes to every worker and into each report."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    """The Chromium on PATH, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def has_native_core() -> bool:
    """Whether the package was installed with its native core."""
    return importlib.util.find_spec("memgauge._core") is not None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collector of garbage away from what lasts as long as the tests: it found nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A short name for a long value; None: the usual one."""
    if isinstance(val, str | bytes) and len(val) > LONGEST_ID:
        return f"{len(val)} of {argname}"
    return None


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in its own
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what this machine lacks the means for; say what may not run side by side.

    Long tests begin first, so that no worker waits for one of them at the end.
    """
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            alone = item.get_closest_marker("whole_machine") is not None
            group = "whole machine" if alone else item.location[0]
            if item.get_closest_marker("xdist_group") is None:  # a test may name its own
                item.add_marker(pytest.mark.xdist_group(group))
    lacking = {
        "browser": None
        if browser_path()
        else "no Chromium on PATH (Debian: apt-get install chromium)",
        "native": None
        if has_native_core()
        else "the native core is not built (make test builds it)",
    }
    for item in items:
        for marker, reason in lacking.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def skip_reasons(config: pytest.Config) -> list[str]:
    """Of all tests that were skipped; empty in a worker, whose tests the main process counts."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    return [str(one.longrepr[2]).removeprefix("Skipped: ") for one in skipped]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where more was skipped than is known, if that was asked for."""
    is_excess = os.environ.get("MEMGAUGE_SKIPS") == "known" and excess(
        counted(skip_reasons(session.config))
    )
    if is_excess and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print how many tests were skipped by reason, and what of that is new."""
    counts = counted(skip_reasons(config))
    if not counts:
        return
    terminalreporter.section("skipped by reason")
    for reason, many in counts.most_common():
        terminalreporter.write_line(f"{many:5} {reason}")
    if os.environ.get("MEMGAUGE_SKIPS") == "known":
        for line in excess(counts):
            terminalreporter.write_line(f"FAILED {line}", red=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a test passed, for its fixtures."""
    report = yield
    item.stash[PASSED] = item.stash.get(PASSED, True) and not report.failed
    return report


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """pytest's own directory, emptied after a test that passed: all would leave 10 GB.

    The directory itself stays, so that no later test gets its name: the linker of programs takes a
    library at a known path to be the one that it has loaded.
    """
    yield tmp_path
    if request.node.stash.get(PASSED, False):
        for path in tmp_path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of a Chromium, for tests marked `browser`."""
    path = browser_path()
    assert path is not None
    return path


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the test's own in which memgauge writes down what it makes."""
    place = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    return place
