"""The report's sections on flips: what they have in common, then one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nemo_gym.rollout_compare.explain import is_mere_form, source_text
from nemo_gym.rollout_compare.report.terminal.changes import COLUMNS, parted_lines
from nemo_gym.rollout_compare.report.terminal.difference import repeats_text
from nemo_gym.rollout_compare.report.terminal.words import LABEL_LIMIT, label, listed, section
from nemo_gym.rollout_compare.report.terminal.wrapped import LEAST_WIDTH
from nemo_gym.rollout_compare.schema import Cluster, Evidence, Flip, OtherReasons, Side, TestChanges, reward_text
from nemo_gym.rollout_compare.text import counted, folded, one_line

WHERE_LIMIT = 400

#: The order of flips that is not that of their labels.
BY_SIZE = "size"
TESTS_NAMED = 10
SAMPLE_LINES = 5
REASONS_NAMED = 10


def cluster_lines(clusters: Sequence[Cluster], flips: Sequence[Flip] = (), *, output: bool = True) -> Iterator[str]:
    """The signatures that several flips have in common, each with the output of one flip and the others' names."""
    common = common_causes(clusters)
    if not common:
        return
    by_task = {flip.comparison.task: flip for flip in flips}
    yield from section("Flips with the same cause", len(common))
    for cluster in common:
        won = f"{cluster.old_wins} lost, {cluster.new_wins} won{same_form(cluster)}"
        yield f"{won}: {one_line(cluster.signature, LABEL_LIMIT)}"
        first, *others = cluster.tasks
        sample = by_task.get(first)
        lines = _losing_lines(sample)[-SAMPLE_LINES:] if sample and output else []
        if lines:
            yield f"    {label(first)} ends with:"
            yield from (f"    | {line}".rstrip() for line in lines)
            yield f"    also: {listed(others)}"
        else:
            yield f"    {listed(cluster.tasks)}"


def common_causes(clusters: Sequence[Cluster]) -> list[Cluster]:
    """The clusters of two flips or more: those first that tell the most between the sides."""
    return sorted((cluster for cluster in clusters if len(cluster.tasks) > 1), key=one_sided_first)


def one_sided_first(cluster: Cluster) -> tuple[int, int, str]:
    """What clusters are sorted by: how many more flips one side lost, then how many there are, then by signature."""
    return -abs(cluster.old_wins - cluster.new_wins), -len(cluster.tasks), cluster.signature


def same_form(cluster: Cluster) -> str:
    """What is said of flips whose errors have one form and perhaps no cause in common, or nothing."""
    return ", same form of error" if is_mere_form(cluster.signature) else ""


def _losing_lines(flip: Flip) -> Sequence[str]:
    evidence = flip.evidence(flip.comparison.loser) if flip.comparison.loser else None
    return evidence.lines if evidence else ()


def other_reason_lines(groups: Sequence[OtherReasons]) -> Iterator[str]:
    """The tasks that fail on both sides, but not for the same reason."""
    if not groups:
        return
    total = sum(len(group.tasks) for group in groups)
    yield from section("Failing on both sides for another reason", total)
    for group in groups[:REASONS_NAMED]:
        yield f"{counted(len(group.tasks), 'task')}: {one_line(group.new_signature, LABEL_LIMIT)}"
        yield f"    before: {one_line(group.old_signature, LABEL_LIMIT)}"
        yield f"    {listed(group.tasks)}"
    if len(groups) > REASONS_NAMED:
        rest = sum(len(group.tasks) for group in groups[REASONS_NAMED:])
        pairs = counted(len(groups) - REASONS_NAMED, "other pair")
        yield f"... and {counted(rest, 'more task')} with {pairs} of reasons"


def by_size(flip: Flip) -> tuple[bool, float, str]:
    """What flips are sorted by: those beyond noise first, then the largest changes, then by label."""
    old, new = flip.comparison.old, flip.comparison.new
    assert old is not None
    assert new is not None
    assert old.reward is not None
    assert new.reward is not None
    return flip.within_noise, -abs(new.reward - old.reward), flip.comparison.task


def flip_lines(
    title: str,
    flips: Sequence[Flip],
    *,
    most: int | None = None,
    sides: int = 1,
    hide_noise: bool = False,
    width: int | None = None,
) -> Iterator[str]:
    """A section of flips, at most so many of them, with the verifier output of so many sides, the losing one first.

    What agents did is cut to the width of the terminal, where the report goes to one.
    """
    yield from section(title, len(flips))
    told = [flip for flip in flips if not flip.within_noise] if hide_noise else flips
    for flip in told[:most]:
        yield from _flip(flip, sides, max(width or COLUMNS, LEAST_WIDTH))
    if most is not None and len(told) > most:
        yield f"... and {counted(len(told) - most, 'more flip')}"
    if len(told) < len(flips):
        yield f"{counted(len(flips) - len(told), 'flip')} within the noise of repeated attempts not shown"


def _flip(flip: Flip, sides: int, width: int) -> Iterator[str]:
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
    yield from _why(flip, width)
    assert task.winner is not None
    for side in (task.winner.other, task.winner)[:sides]:
        evidence = flip.evidence(side)
        if evidence:
            yield from _evidence(side, evidence)


def _why(flip: Flip, width: int) -> Iterator[str]:
    """What is known of the reason, beside the output itself."""
    if flip.signature:
        what = "form of error" if is_mere_form(flip.signature) else "cause"
        yield f"    {what}: {one_line(flip.signature, LABEL_LIMIT)}"
    if flip.same_answer:
        yield "    same answer: the verifier disagrees with itself"
    yield from _tests(flip.tests)
    if flip.parted:
        yield from parted_lines(flip.parted, width)


def _tests(tests: TestChanges | None) -> Iterator[str]:
    """The tests that changed: a file that all have in common once, the parameters of one test together."""
    if tests is None:
        return
    for kind, names in (("broken", tests.broken), ("fixed", tests.fixed), ("not run", tests.not_run)):
        if names:
            file, some = folded(names)
            where = f" of {label(file)}" if file else ""
            yield f"    {kind} tests{where} ({len(names)}): {listed(some, TESTS_NAMED)}"
    if tests.changed:
        rates = [f"{test.test} {test.old} -> {test.new}" for test in tests.changed]
        yield f"    other pass rates ({len(rates)}): {listed(rates, TESTS_NAMED)}"


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
