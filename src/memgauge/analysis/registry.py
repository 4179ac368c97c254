"""The analysis of each experiment, by its name. Adding one is one line here."""

from collections.abc import Callable

from memgauge.analysis import (
    fft3d,
    interleave,
    latency,
    loaded,
    misses,
    mix,
    numa,
    pages,
    profile,
    routes,
    stream,
    stride,
    tiers,
    traffic,
    transfers,
    verify,
    workingset,
)
from memgauge.analysis.figures import Figures
from memgauge.analysis.section import Section

ANALYSES: dict[str, Callable[[Figures], Section]] = {
    "stream": stream.analyse,
    "latency": latency.analyse,
    "workingset": workingset.analyse,
    "loaded": loaded.analyse,
    "mix": mix.analyse,
    "stride": stride.analyse,
    "pages": pages.analyse,
    "misses": misses.analyse,
    "profile": profile.analyse,
    "fft3d": fft3d.analyse,
    "verify": verify.analyse,
    "routes": routes.analyse,
    "tiers": tiers.analyse,
    "numa": numa.analyse,
    "interleave": interleave.analyse,
    "traffic": traffic.analyse,
    "transfers": transfers.analyse,
}
