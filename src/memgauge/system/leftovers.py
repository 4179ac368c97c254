"""What runs that were killed left behind: files, pools, data on devices, directories, huge pages.

All of it was recorded in a journal before it was created, but for groups of resctrl, which bear a
name and a lock. Settings of the machine that were changed for a run are put back too. Only things
with memgauge's mark are touched, and never one that a run still uses or that was kept on purpose.
"""

from __future__ import annotations

from collections.abc import Callable

from memgauge.model.errors import MemgaugeError, SystemFailure
from memgauge.system.areas import devices as area_devices
from memgauge.system.areas import files as area_files
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas import pools as area_pools
from memgauge.system.areas.cleaned import Cleaned
from memgauge.system.memory import reservation
from memgauge.system.programs import work_directory
from memgauge.system.resctrl import groups as resctrl_groups
from memgauge.system.settings.left import SETTINGS, restore_left
from memgauge.system.settings.setting import Setting

CLEANERS: dict[str, Callable[[str], Cleaned]] = {
    area_files.KIND: area_files.cleaned,
    area_devices.KIND: area_devices.cleaned,
    area_pools.KIND: area_pools.cleaned,
    work_directory.KIND: work_directory.cleaned,
}
"""By kind: the function that checks and removes a thing at a path."""

NOTHING = "no leftovers of killed runs were found"


def clean() -> list[str]:
    """Remove all leftovers; return one line for each on what was done or why it stays.

    Raises:
        SystemFailure: some could not be removed; the message names all of them.
    """
    outcomes = [_cleaned(entry) for entry in area_journal.entries()]
    outcomes += [_huge_pages(), _resctrl_groups(), *map(_setting, SETTINGS)]
    lines = [outcome.line for outcome in outcomes if outcome.line is not None]
    failed = [outcome.line for outcome in outcomes if outcome.failed and outcome.line]
    if failed:
        raise SystemFailure("; ".join([*failed, *(line for line in lines if line not in failed)]))
    return lines or [NOTHING]


def _cleaned(entry: area_journal.Entry) -> Cleaned:
    if not entry.is_of_this_host:
        return Cleaned(
            f"{entry.path}: belongs to a run on {entry.host}; clean up on that machine",
            forget=False,
        )
    if entry.kind not in CLEANERS:
        return Cleaned.not_possible(
            entry.path, f"this version of memgauge does not know the kind {entry.kind}"
        )
    outcome = CLEANERS[entry.kind](entry.path)
    if outcome.forget:
        area_journal.forget(entry.kind, entry.path)
    return outcome


def _huge_pages() -> Cleaned:
    try:
        returned = reservation.return_left()
    except MemgaugeError as error:
        return Cleaned(str(error), forget=False, failed=True)
    return Cleaned("; ".join(one.message for one in returned) or None, forget=False)


def _resctrl_groups() -> Cleaned:
    try:
        removed = resctrl_groups.remove_left(resctrl_groups.SYSFS)
    except MemgaugeError as error:
        return Cleaned(str(error), forget=False, failed=True)
    lines = [f"resctrl group {name}: removed, left by a killed run" for name in removed]
    return Cleaned("; ".join(lines) or None, forget=False)


def _setting(kind: type[Setting]) -> Cleaned:
    try:
        return Cleaned(restore_left(kind), forget=False)
    except MemgaugeError as error:
        return Cleaned(str(error), forget=False, failed=True)
