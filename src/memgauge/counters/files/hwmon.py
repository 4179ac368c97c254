"""`hwmon`: power and energy sensors of boards and processors.

Source: Linux, Documentation/hwmon/sysfs-interface.rst: power in microwatts, energy in microjoules.
"""

from __future__ import annotations

import re
from typing import ClassVar

import msgspec

from memgauge.counters.base import Probe
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, Place, access
from memgauge.model.counting.events import Event
from memgauge.system.tree import Tree

SOURCE = "Linux, Documentation/hwmon/sysfs-interface.rst"
REMEDY = "run as root: the driver lets only root read this sensor"
_SENSORS = "/class/hwmon"
_FIGURE = re.compile(r"(power|energy)(\d+)_(average|input)")


class Hwmon(FileBackEnd):
    """Sensors of all hardware monitors, named by chip: several chips may have one name."""

    name: ClassVar[str] = "hwmon"
    summary: ClassVar[str] = "power and energy sensors of boards and processors"
    remedy = REMEDY

    def probe(self) -> Probe:
        """Whether a sensor of power or energy is there."""
        if self.events():
            return Probe(state="ready")
        return Probe(
            state="absent",
            reason=f"no sensor of power or energy in {self.host.sysfs}{_SENSORS}",
            remedy="load the board's sensor driver, such as acpi_power_meter, as root",
        )

    def listed(self) -> list[FileEvent]:
        """One event for each chip's name and figure, counted by each chip of that name."""
        tree = Tree(self.host.sysfs)
        found: dict[str, FileEvent] = {}
        for number in tree.numbered(_SENSORS, "hwmon"):
            monitor = f"{_SENSORS}/hwmon{number}"
            directory, figures = _figures(tree, monitor)
            for figure in figures:
                one = self._event(tree, monitor, directory, figure)
                known = found.setdefault(one.event.name, one)
                if known is not one:
                    known.places.extend(one.places)
                    known.event.instances.extend(one.event.instances)
        # Several sensors may be parts of each other: no one can tell from their files.
        if sum(len(one.places) for one in found.values()) == 1:
            return [
                FileEvent(
                    event=msgspec.structs.replace(one.event, automatic=True), places=one.places
                )
                for one in found.values()
            ]
        return list(found.values())

    def _event(self, tree: Tree, monitor: str, directory: str, figure: str) -> FileEvent:
        path = f"{self.host.sysfs}{directory}/{figure}"
        energy = figure.startswith("energy")
        seen = access(path)
        device = monitor.rpartition("/")[2]
        label = _label(tree, directory, figure)
        instance = f"{device} ({label})" if label else device
        chip = tree.text(f"{monitor}/name") or tree.text(f"{directory}/name") or device
        event = Event(
            name=f"{self.name}:{chip}/{figure}",
            back_end=self.name,
            quantity="energy" if energy else "power",
            domain="energy",
            scope="device",
            unit="J" if energy else "W",
            scale=1e-6,
            scale_source=f"{'microjoules' if energy else 'microwatts'}: {SOURCE}",
            gauge=not energy,
            meaning=_meaning(tree, directory, figure),
            encoding=path,
            instances=[instance],
            source=SOURCE,
            pitfalls=["what a sensor includes is the board's choice; do not add sensors blindly"],
            automatic=False,
            state=seen.state,
            reason=seen.reason,
            remedy=REMEDY if seen.state == "refused" else None,
        )
        return FileEvent(event=event, places=[Place(instance=instance, path=path)])


def _figures(tree: Tree, monitor: str) -> tuple[str, list[str]]:
    """Where a monitor's files are: older drivers keep them at the device it belongs to."""
    for directory in (monitor, f"{monitor}/device"):
        if figures := [name for name in tree.names(directory) if _FIGURE.fullmatch(name)]:
            return directory, figures
    return monitor, []


def _label(tree: Tree, directory: str, figure: str) -> str | None:
    """What the driver calls the sensor; ACPI power meters use a file of their own for it."""
    sensor = figure.partition("_")[0]
    return tree.text(f"{directory}/{sensor}_label") or tree.text(f"{directory}/{sensor}_oem_info")


def _meaning(tree: Tree, directory: str, figure: str) -> str:
    if figure.startswith("energy"):
        return "energy of one sensor since its driver was loaded"
    if figure.endswith("_input"):
        return "power of one sensor at its latest conversion"
    interval_ms = tree.integer(f"{directory}/{figure}_interval")
    over = "a time that the driver does not report" if interval_ms is None else f"{interval_ms} ms"
    return f"power of one sensor, an average over {over}: what is shorter is smoothed away"
