"""The report's sections on flips: what they have in common, then one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.explain.evidence import source_text
from nemo_gym.rollout_compare.report.terminal.difference import repeats_text
from nemo_gym.rollout_compare.report.terminal.words import LABEL_LIMIT, counted, label, listed, section
from nemo_gym.rollout_compare.schema import Cluster, Evidence, Flip, Side, TestChanges, reward_text
from nemo_gym.rollout_compare.text.terminal import one_line

WHERE_LIMIT = 400
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


def flip_lines(title: str, flips: Sequence[Flip], *, most: int | None = None, sides: int = 1) -> Iterator[str]:
    """A section of flips, at most so many of them, with the verifier output of so many sides, the losing one first."""
    yield from section(title, len(flips))
    for flip in flips[:most]:
        yield from _flip(flip, sides)
    if most is not None and len(flips) > most:
        yield f"... and {counted(len(flips) - most, 'more flip')}"


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
