"""What a diagnosis has to tell of address translation, and the verdict of all evidence together."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.diagnose.figures import Diagnosis, Treated
from memgauge.analysis.diagnose.judgement import OF_MEMORY, Judgement, judgement_of
from memgauge.analysis.diagnose.memory_seen import ALIKE, MemorySeen
from memgauge.analysis.diagnose.page_facts import PageFacts, saved_between
from memgauge.analysis.diagnose.translation import (
    HUGE,
    Evidence,
    Translation,
    judge_translation,
    untold,
)
from memgauge.analysis.section import Column, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import AS_IT_IS, AS_IT_IS_AGAIN


def translation_of(found: Diagnosis) -> Translation | None:
    """What a diagnosis tells of translation; None: no other pages were tried."""
    facts = found.page_facts
    variants = [one for one in found.variants if one.pages_wanted]
    if facts is None or not variants:
        return None
    usual = found.usual_memory
    if usual is None:
        return untold("the pages that its memory is on were not seen")
    if usual.huge_high < HUGE:
        chosen = _on_huge_pages(found, variants)
        if chosen is None:
            return untold(_none_reached(found, variants))
        evidence = _evidence(found, facts, usual, base=AS_IT_IS, huge=chosen.name)
    elif usual.huge_low >= HUGE:
        chosen = _on_base_pages(found, variants)
        if chosen is None:
            return untold("it was never seen on base pages")
        evidence = _evidence(found, facts, usual, base=chosen.name, huge=AS_IT_IS)
    else:
        return untold(f"its memory was on huge pages in some rounds only ({usual.huge_words})")
    return judge_translation(evidence)


def _on_huge_pages(found: Diagnosis, variants: Sequence[Treated]) -> Treated | None:
    """That with most memory on huge pages: chosen by what it got, not by what it gains."""
    shares = {
        one.name: seen.huge_low
        for one in variants
        if one.pages_wanted == "huge" and (seen := found.memory.get(one.name)) is not None
    }
    reached = [one for one in variants if shares.get(one.name, 0.0) >= HUGE]
    return max(reached, key=lambda one: shares[one.name], default=None)


def _on_base_pages(found: Diagnosis, variants: Sequence[Treated]) -> Treated | None:
    for one in variants:
        seen = found.memory.get(one.name)
        if one.pages_wanted == "base" and seen is not None and seen.huge_high <= ALIKE:
            return one
    return None


def _none_reached(found: Diagnosis, variants: Sequence[Treated]) -> str:
    got = [
        f"{one.name}: {seen.huge_words}"
        for one in variants
        if one.pages_wanted == "huge" and (seen := found.memory.get(one.name)) is not None
    ]
    seen_words = f" ({'; '.join(got)})" if got else ""
    return f"no way that was tried put half of its memory on huge pages{seen_words}"


def _evidence(
    found: Diagnosis, facts: PageFacts, usual: MemorySeen, *, base: str, huge: str
) -> Evidence:
    traffic = found.traffic
    spent = facts.spent
    treated = {one.name: one for one in found.variants}
    usual_spent = spent.get(AS_IT_IS, {})
    is_huge = huge == AS_IT_IS
    time = treated[base if is_huge else huge].program
    again = treated.get(AS_IT_IS_AGAIN)
    return Evidence(
        is_huge=is_huge,
        base=base,
        huge=huge,
        saved=saved_between(spent.get(base, {}), spent.get(huge, {})),
        gain=_gain(time, is_huge=is_huge),
        again=again.program if again else None,
        again_saved=saved_between(usual_spent, spent.get(AS_IT_IS_AGAIN, {})),
        judgement=judgement_of(found),
        traffic_share=None if traffic is None else traffic.peak_share,
        working_set_bytes=_working_set_bytes(facts, usual, is_huge=is_huge),
        why_no_working_set=facts.why_no_working_set,
        reach=facts.reach,
        llc_bytes=facts.llc_bytes,
    )


def _gain(time: Estimate | None, *, is_huge: bool) -> Estimate | None:
    """Time saved by huge pages over that on base pages.

    Args:
        time: Over the usual way: of base pages where that is on huge ones, else of huge pages.
        is_huge: Whether the usual way is on huge pages.
    """
    if time is None:
        return None
    if is_huge:
        return Estimate(1 - 1 / time.value, 1 - 1 / time.low, 1 - 1 / time.high)
    return Estimate(1 - time.value, 1 - time.high, 1 - time.low)


def _working_set_bytes(facts: PageFacts, usual: MemorySeen, *, is_huge: bool) -> int | None:
    """Of huge pages the kernel counts all that they hold: they are left out, or it is not known."""
    pages = facts.working_set
    if pages is None:
        return None
    if pages.base_pages:
        return int(pages.median_bytes)
    if is_huge:
        return None
    return max(0, int(pages.median_bytes - usual.huge_high * usual.anonymous_bytes))


def verdict_of(found: Diagnosis) -> Judgement:
    """What limits a program: by pressure and traffic, or, where these find nothing, translation."""
    judgement, translation = judgement_of(found), translation_of(found)
    if translation is None or translation.kind != "translation" or _stands_first(judgement):
        return judgement
    return msgspec.structs.replace(
        judgement, kind="translation", why=f"{translation.why} {_relation(judgement)}"
    )


def _stands_first(judgement: Judgement) -> bool:
    return judgement.kind not in {"not memory", "cannot tell"}


def translation_words(found: Diagnosis) -> str:
    """What is told of translation beside the verdict; empty: nothing, or the verdict says it."""
    judgement, translation = judgement_of(found), translation_of(found)
    if translation is None:
        return ""
    facts = found.page_facts
    weakened = facts.weakened if facts and translation.kind != "cannot tell" else ""
    if translation.kind != "translation" or not _stands_first(judgement):
        why = "" if translation.kind == "translation" else translation.why
        return " ".join(filter(None, (why, weakened)))
    return " ".join(filter(None, (translation.why, _relation(judgement), weakened)))


def _relation(judgement: Judgement) -> str:
    """How translation and what pressure shows belong together."""
    why = f"{judgement.why[:1].lower()}{judgement.why[1:]}"
    if judgement.kind in OF_MEMORY:
        return (
            "Page walks wait for memory too: this share and that of waiting overlap, and are not "
            "to be added."
        )
    if judgement.kind == "not memory":
        return f"Beside that it waits for memory little: {why}"
    return f"What else limits it cannot be told: {why}"


def translation_table(found: Diagnosis) -> Table | None:
    """What huge pages save of processor time; None: nothing could be compared."""
    one = translation_of(found)
    if one is None or one.saved is None:
        return None
    saved = one.saved
    return Table(
        name="diagnose-pages",
        title="Processor time on base pages, that huge pages save",
        columns=[
            Column(title="part"),
            Column(title="saved", unit="%", digits=1),
            Column(title="of", narrow=False),
        ],
        rows=[
            ["in user mode", saved.user, "translation, and what page faults cost afterwards"],
            ["in the kernel", saved.system, "page faults, and clearing memory"],
            ["beyond page faults", saved.beyond_faults, "the first less the second: translation"],
        ],
        note=f"Of {saved.rounds} rounds with '{one.base}' on base pages and '{one.huge}' on huge "
        "ones: medians with 95% intervals, by the kernel's accounts (wait4). Page faults of a "
        f"run: {saved.base_faults:,.0f} and {saved.huge_faults:,.0f}. What page faults cost in "
        "user mode is taken to be as much as they cost in the kernel, at most.",
    )
