"""The answer of a diagnosis: the verdict, the figures it rests on, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.answer.next_steps import next_steps
from memgauge.analysis.answer.quality import quality_of
from memgauge.analysis.diagnose.by_region.judged import (
    RegionDiagnosis,
    region_diagnoses,
    region_words,
)
from memgauge.analysis.diagnose.by_region.traffic_section import (
    MOST_IN_WORDS,
    OTHERS,
    rate_words,
)
from memgauge.analysis.diagnose.figures import Diagnosis, Treated, diagnosis_of
from memgauge.analysis.diagnose.judgement import OF_MEMORY, Judgement, judgement_of
from memgauge.analysis.diagnose.need_words import need_details
from memgauge.analysis.diagnose.traffic_section import basis_words
from memgauge.analysis.diagnose.translation_evidence import translation_of, verdict_of
from memgauge.analysis.diagnose.verdicts import (
    KINDS,
    MATTERS,
    is_faster,
    is_slower,
    share_words,
    verdict_words,
)
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Answer, AnswerFigure, AnswerLine, Section, Verdict
from memgauge.model.points.diagnose import ALL_CPUS, BANDWIDTH, LATENCY, WRITE

MOST_VARIANTS = 6
MOST_NOT_TRIED = 3


def diagnosis_answer(
    figures: Figures, verdicts: Sequence[Verdict], sections: Sequence[Section]
) -> Answer | None:
    """The verdict, what it rests on and what helps; None: the run holds no diagnosis.

    Args:
        figures: Of the run.
        verdicts: Of the run as a whole.
        sections: Of its experiments.
    """
    found = diagnosis_of(figures)
    if found is None:
        return None
    judgement = judgement_of(found)
    every = [*verdicts, *(verdict for section in sections for verdict in section.verdicts)]
    return Answer(
        quality=quality_of(figures),
        sentences=[_sentence(found)] if found.has_pressure else [],
        lines=[
            *_pressure(found, judgement),
            *_regions(region_diagnoses(figures)),
            *_traffic(found),
            *_translation(found),
            *_variants(found),
            *_not_tried(found),
        ],
        next_steps=next_steps(every),
        charts=[chart.name for section in sections for chart in section.charts][:2],
    )


def _pressure(found: Diagnosis, judgement: Judgement) -> Iterator[AnswerLine]:
    """Slowdowns under writes in the regime that was judged, and shares."""
    write = next(
        (
            one
            for one in found.pressures
            if one.name == WRITE and one.regime == judgement.regime and one.program is not None
        ),
        None,
    )
    if write is None:
        return
    names = {"program": write.program, "latency": write.references.get(LATENCY)}
    names["streaming"] = write.references.get(BANDWIDTH)
    regime = f", {judgement.regime}" if judgement.regime else ""
    yield AnswerLine(
        label="Slowdown",
        figures=[
            AnswerFigure(name=name, value=value, digits=2) for name, value in names.items() if value
        ],
        detail=f"under writes, {write.rounds} rounds{regime}",
    )
    shares = {"waiting": judgement.latency_share, "streaming": judgement.bandwidth_share}
    if judgement.kind in OF_MEMORY and any(shares.values()):
        yield AnswerLine(
            label="Behaves like",
            figures=[],
            detail=" or ".join(
                f"{name} {share_words(value)} of its time"
                for name, value in shares.items()
                if value
            ),
        )
    needs = need_details(found, judgement)
    if needs:
        yield AnswerLine(label="Needs", figures=[], detail=", ".join(needs))


def _regions(found: Sequence[RegionDiagnosis]) -> Iterator[AnswerLine]:
    if found:
        yield AnswerLine(label="By region", figures=[], detail=region_words(found))
    moved = [(one.name, one.traffic) for one in found if one.traffic]
    if moved:
        basis = " or ".join(dict.fromkeys(traffic.basis for _, traffic in moved))
        rates = "; ".join(rate_words(name, traffic) for name, traffic in moved[:MOST_IN_WORDS])
        more = f"; {OTHERS}" if len(moved) > MOST_IN_WORDS else ""
        yield AnswerLine(label="Regions move", figures=[], detail=f"{rates}{more}; {basis} bytes")


def _traffic(found: Diagnosis) -> Iterator[AnswerLine]:
    traffic = found.traffic
    if traffic is None:
        return
    share = traffic.peak_share
    yield AnswerLine(
        label="Traffic",
        figures=[
            AnswerFigure(name="", value=traffic.gb_per_s, unit="GB/s", digits=2),
            *([AnswerFigure(name="of the peak", value=share, unit="%", digits=0)] if share else []),
        ],
        detail=basis_words(traffic),
    )
    one = found.on_curve
    if one is None:
        return
    figures = [AnswerFigure(name="of its peak", value=one.peak_share, unit="%", digits=0)]
    if one.latency_ns is not None:
        figures.append(AnswerFigure(name="latency", value=one.latency_ns, unit="ns", digits=0))
    if one.to_knee_gb_per_s is not None:
        figures.append(
            AnswerFigure(name="to the knee", value=one.to_knee_gb_per_s, unit="GB/s", digits=1)
        )
    yield AnswerLine(
        label="On the curve", figures=figures, detail=f"{traffic.basis} traffic; {one.load}"
    )


def _sentence(found: Diagnosis) -> str:
    """The verdict; where it is translation without all that it rests on."""
    verdict, translation = verdict_of(found), translation_of(found)
    if verdict.kind == "translation" and translation is not None:
        return f"{KINDS[verdict.kind]} It takes {translation.short}."
    return verdict_words(verdict)


def _translation(found: Diagnosis) -> Iterator[AnswerLine]:
    """What pages tell, where others were tried."""
    translation = translation_of(found)
    if translation is not None:
        yield AnswerLine(label="Translation", figures=[], detail=translation.short)


def _variants(found: Diagnosis) -> Iterator[AnswerLine]:
    """The fastest first."""
    known = [one for one in found.variants if one.program is not None]
    known.sort(key=lambda one: one.program.value if one.program else 1.0)
    for at, one in enumerate(known[:MOST_VARIANTS]):
        yield AnswerLine(
            label="" if at else "Time with",
            figures=[AnswerFigure(name=one.name, value=one.program, digits=3)],
            detail=_words(found, one),
        )


def _not_tried(found: Diagnosis) -> Iterator[AnswerLine]:
    """Names of what was not tried; of a process that was not started the reason too."""
    names = [name for name, _ in found.not_tried]
    if not names:
        return
    if found.process is not None:
        detail = (
            f"{', '.join(names)}: they need the program to be started, and process "
            f"{found.process.pid} was not"
        )
    else:
        more = len(names) - MOST_NOT_TRIED
        others = f" and {more} more" if more > 0 else ""
        detail = f"{', '.join(names[:MOST_NOT_TRIED])}{others}; the table Not tried has the reasons"
    yield AnswerLine(label="Not tried", figures=[], detail=detail)


def _words(found: Diagnosis, one: Treated) -> str:
    if not one.change:
        return "shows the noise"
    if one.name == ALL_CPUS:
        return f"{_compared(one)}: as without a diagnosis, which needs CPUs for pressure"
    reason = found.without_effect(one)
    return f"{_compared(one)}; {reason}" if reason else _compared(one)


def _compared(one: Treated) -> str:
    if is_faster(one.program):
        return "faster"
    if is_slower(one.program):
        return "slower"
    time = one.program
    if time is None or time.low < 1 - MATTERS or time.high > 1 + MATTERS:
        return "no difference that can be told"
    return f"no difference above {MATTERS:.0%}"
