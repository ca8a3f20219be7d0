"""The report's sections on flips: what they have in common, then one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.explain.evidence import source_text
from nemo_gym.rollout_compare.report.terminal.changes import parted_lines
from nemo_gym.rollout_compare.report.terminal.difference import repeats_text
from nemo_gym.rollout_compare.report.terminal.words import LABEL_LIMIT, label, listed, section
from nemo_gym.rollout_compare.schema import Cluster, Evidence, Flip, Side, TestChanges, reward_text
from nemo_gym.rollout_compare.text.terminal import one_line
from nemo_gym.rollout_compare.text.words import counted

WHERE_LIMIT = 400

#: The order of flips that is not that of their labels.
BY_SIZE = "size"
TESTS_NAMED = 10


def cluster_lines(clusters: Sequence[Cluster]) -> Iterator[str]:
    """The signatures that several flips have in common, and their tasks."""
    common = [cluster for cluster in clusters if len(cluster.tasks) > 1]
    if not common:
        return
    yield from section("Flips with the same last error", len(common))
    for cluster in common:
        yield f"{len(cluster.tasks)} {cluster.winner}-win flips: {one_line(cluster.signature, LABEL_LIMIT)}"
        yield f"    {listed(cluster.tasks)}"


def by_size(flip: Flip) -> tuple[bool, float, str]:
    """What flips are sorted by: those beyond noise first, then the largest changes, then by label."""
    old, new = flip.comparison.old, flip.comparison.new
    assert old is not None
    assert new is not None
    assert old.reward is not None
    assert new.reward is not None
    return within_noise(flip), -abs(new.reward - old.reward), flip.comparison.task


def within_noise(flip: Flip) -> bool:
    """Whether the flip is known to be no more than the noise of its attempts."""
    return flip.repeats is not None and flip.repeats.within_noise


def flip_lines(
    title: str, flips: Sequence[Flip], *, most: int | None = None, sides: int = 1, hide_noise: bool = False
) -> Iterator[str]:
    """A section of flips, at most so many of them, with the verifier output of so many sides, the losing one first."""
    yield from section(title, len(flips))
    told = [flip for flip in flips if not within_noise(flip)] if hide_noise else flips
    for flip in told[:most]:
        yield from _flip(flip, sides)
    if most is not None and len(told) > most:
        yield f"... and {counted(len(told) - most, 'more flip')}"
    if len(told) < len(flips):
        yield f"{counted(len(flips) - len(told), 'flip')} within the noise of repeated attempts not shown"


def _flip(flip: Flip, sides: int) -> Iterator[str]:
    task, old, new = flip.comparison, flip.comparison.old, flip.comparison.new
    assert old is not None
    assert new is not None
    yield f"### {label(task.task)}: old={old.reward_text()} new={new.reward_text()} -> {task.winner} wins"
    if flip.repeats:
        yield f"    {repeats_text(flip.repeats)}"
    if reward_text(old.reward) == reward_text(new.reward):
        yield f"    rewards in full: old={old.reward!r} new={new.reward!r}"
    for side, facts in ((Side.OLD, old), (Side.NEW, new)):
        if facts.agent_error:
            yield f"    {side} agent error: {one_line(facts.agent_error, LABEL_LIMIT)}"
        if facts.failure_kind:
            yield f"    {side} scored with failure_kind={one_line(facts.failure_kind, LABEL_LIMIT)} (not masked)"
    yield from _tests(flip.tests)
    if flip.parted:
        yield from parted_lines(flip.parted)
    assert task.winner is not None
    for side in (task.winner.other, task.winner)[:sides]:
        evidence = flip.evidence(side)
        if evidence:
            yield from _evidence(side, evidence)


def _tests(tests: TestChanges | None) -> Iterator[str]:
    if tests is None:
        return
    for kind, names in (("broken", tests.broken), ("fixed", tests.fixed)):
        if names:
            yield f"    {kind} tests ({len(names)}): {listed(names, TESTS_NAMED)}"


def _evidence(side: Side, evidence: Evidence) -> Iterator[str]:
    where = one_line(source_text(evidence), WHERE_LIMIT)
    if evidence.source is None:
        yield f"    {side} verifier output unavailable: {where}"
        return
    if evidence.unavailable:
        yield f"    {side} verifier log passed over: {one_line(evidence.unavailable, WHERE_LIMIT)}"
    if evidence.lines:
        yield f"    {side} verifier output (last {counted(len(evidence.lines), 'line')} of {where}):"
        yield from (f"    | {line}".rstrip() for line in evidence.lines)
