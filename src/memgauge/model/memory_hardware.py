"""Memory hardware in one line, for the terminal, pages and comparisons."""

from __future__ import annotations

from collections import Counter

from memgauge.model.system import MemoryHardware, MemoryModule, PeakSource, System
from memgauge.model.units import format_bytes, format_count

_PLACES = {"rank": "rank", "csrow": "row of chips"}
_ECC = {
    "on": "ECC on",
    "off": "ECC off",
    "parity": "errors detected, not corrected",
    "mixed": "ECC of some modules only",
}
_PEAK_SOURCES: dict[PeakSource | None, str] = {
    "smbios": "by the firmware (SMBIOS)",
    "smbios and edac": "by SMBIOS, over the channels that EDAC lists",
    "device tree": "by the fastest clock in the device tree",
    None: "by the firmware",
}


def peak_origin(system: System) -> str:
    """Where a theoretical bandwidth is from, to be written after it."""
    return "as given" if system.peak_is_given else _PEAK_SOURCES[system.peak_source]


def memory_hardware_line(hardware: MemoryHardware) -> str:
    """Such as `ECC on (SECDED), 8 x 32 GiB Registered-DDR5, 8 channels, by EDAC`."""
    parts = [ecc_text(hardware), modules_text(hardware)]
    errors = errors_text(hardware)
    parts += [errors] if errors else []
    source = "EDAC" if hardware.source == "edac" else "the firmware"
    return f"{'; '.join(part for part in parts if part)}; by {source}"


def ecc_text(hardware: MemoryHardware) -> str:
    """State and kinds of ECC."""
    if hardware.ecc is None:
        return "ECC not known"
    modes = {one.ecc_mode for one in hardware.modules if one.ecc_mode not in {None, "None"}}
    names = sorted({*(str(mode) for mode in modes), *hardware.ecc_names} - {"none"})
    return _ECC[hardware.ecc] + (f" ({', '.join(names)})" if names else "")


def modules_text(hardware: MemoryHardware) -> str:
    """Modules by size and type, and the channels they lie on."""
    kinds = Counter((one.bytes, one.type, _place(one)) for one in hardware.modules)
    parts = [
        " ".join(
            filter(
                None,
                (
                    f"{number} x",
                    "of unknown size" if size is None else format_bytes(size),
                    kind,
                    place,
                ),
            )
        )
        for (size, kind, place), number in kinds.items()
    ]
    if not parts:
        controllers = format_count(len(hardware.controllers), "controller")
        return f"{controllers}, modules not reported"
    if hardware.channels is not None:
        parts.append(f"on {format_count(hardware.channels, 'channel')}")
    return ", ".join(parts)


def errors_text(hardware: MemoryHardware) -> str | None:
    """Errors counted since the counters were reset; None where no controller counts them."""
    corrected = [c.corrected_errors for c in hardware.controllers]
    uncorrected = [c.uncorrected_errors for c in hardware.controllers]
    known = [number for number in (*corrected, *uncorrected) if number is not None]
    if not known:
        return None
    total = {
        "corrected": [number for number in corrected if number is not None],
        "uncorrected": [number for number in uncorrected if number is not None],
    }
    counted = [f"{sum(numbers)} {name}" for name, numbers in total.items() if numbers]
    return f"{' and '.join(counted)} errors so far"


def _place(module: MemoryModule) -> str:
    kind = module.place.rstrip("0123456789")
    return f"({_PLACES[kind]})" if kind in _PLACES else ""
