"""The analysis of each experiment, by its name. Adding one is one line here."""

from collections.abc import Callable

from memgauge.analysis.counters_compare import section as counters_compare
from memgauge.analysis.counters_verify import section as counters_verify
from memgauge.analysis.fft3d import section as fft3d
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.interleave import section as interleave
from memgauge.analysis.latency import section as latency
from memgauge.analysis.loaded import section as loaded
from memgauge.analysis.misses import section as misses
from memgauge.analysis.mix import section as mix
from memgauge.analysis.numa import section as numa
from memgauge.analysis.pages import section as pages
from memgauge.analysis.profile import section as profile
from memgauge.analysis.section import Section
from memgauge.analysis.stream import section as stream
from memgauge.analysis.stride import section as stride
from memgauge.analysis.tiers import section as tiers
from memgauge.analysis.traffic import section as traffic
from memgauge.analysis.transfers import section as transfers
from memgauge.analysis.workingset import section as workingset

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
    "counters_verify": counters_verify.analyse,
    "counters_compare": counters_compare.analyse,
    "tiers": tiers.analyse,
    "numa": numa.analyse,
    "interleave": interleave.analyse,
    "traffic": traffic.analyse,
    "transfers": transfers.analyse,
}
