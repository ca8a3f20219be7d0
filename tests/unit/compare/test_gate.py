"""The gate: each rule, its status and its line, and that nothing unknown passes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from nemo_gym.rollout_compare import RolloutCompareConfig, compare_rollouts, run_compare, summary_schema
from nemo_gym.rollout_compare.compare import gate
from nemo_gym.rollout_compare.compare.gate import RULES, check_rules, is_rule, rule_form, rule_text, rules_in_short
from nemo_gym.rollout_compare.schema import Rule
from tests.support import Done, compare, run, write_rows

Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def side(**tasks: Any) -> Rows:
    """Rows by task: a reward, or an object with more."""
    return [{"task_id": task, **(row if isinstance(row, dict) else {"reward": row})} for task, row in tasks.items()]


#: Three flips (the old side wins two, of one it has an agent error), three masked tasks, two missing ones.
OLD = side(
    same=1,
    lost=1,
    won=0,
    doubtful={"reward": 1, "error": "oops"},
    m1={"reward": 1, "mask_sample": True},
    m2=1,
    m3=1,
    x=1,
)
NEW = side(same=1, lost=0, won=1, doubtful=0, m1=1, m2=None, m3={"reward": 0, "mask_sample": True}, y=0)

VALUES = {"flipped": 3, "lost": 2, "agent-error": 1, "masked": 3, "missing": 2}


def files(old: Rows, new: Rows) -> tuple[str, str]:
    return str(write_rows(Path("old.jsonl"), old)), str(write_rows(Path("new.jsonl"), new))


def gated(*rules: str, old: Rows = OLD, new: Rows = NEW, more: tuple[str, ...] = ()) -> Done:
    return compare(*files(old, new), *more, *(word for rule in rules for word in ("--fail-on", rule)))


def better_or_worse(lost: int, won: int) -> tuple[Rows, Rows]:
    old = [int(n < lost) for n in range(lost + won)]
    return side(**{f"t{n}": reward for n, reward in enumerate(old)}), side(
        **{f"t{n}": 1 - reward for n, reward in enumerate(old)}
    )


@pytest.mark.parametrize(("name", "value"), VALUES.items())
def test_a_rule_trips_where_there_are_more_tasks_than_it_allows(name: str, value: int) -> None:
    rules = [name, f"{name}>0", f"{name}>{value - 1}", f"{name}>{value}", f"{name}>{value + 1}", f"{name}>00{value}"]
    checked = check_rules(compare_rollouts(OLD, NEW), rules)
    assert checked == tuple(
        Rule(rule, value, tripped) for rule, tripped in zip(rules, [True] * 3 + [False] * 3, strict=True)
    )


@pytest.mark.parametrize("name", VALUES)
def test_no_task_trips_nothing(name: str) -> None:
    assert check_rules(compare_rollouts(side(a=1), side(a=1)), [name]) == (Rule(name, 0, False),)


@pytest.mark.parametrize(
    ("lost", "won", "verdict", "tripped"),
    [
        (6, 0, "worse", True),
        (0, 6, "better", False),
        (7, 1, "no significant change", False),  # p = 2 (1 + 8) / 2^8 = 0.07
        (8, 1, "worse", True),  # p = 2 (1 + 9) / 2^9 = 0.04
        (5, 0, "cannot tell", False),
    ],
)
def test_worse_is_the_verdict(lost: int, won: int, verdict: str, tripped: bool) -> None:
    result = compare_rollouts(*better_or_worse(lost, won))
    assert check_rules(result, ["worse"]) == (Rule("worse", verdict, tripped),)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (side(a=1), side(b=1)),
        (side(a=1, b=1), side(a=None, b={"reward": 1, "mask_sample": True})),
        (side(a=1), []),
    ],
    ids=["missing", "masked", "empty"],
)
def test_worse_never_passes_where_nothing_could_be_compared(old: Rows, new: Rows) -> None:
    done = gated("worse", old=old, new=new)
    assert done.status == 3
    assert done.stderr == "gate: worse: cannot tell, because no difference could be computed\n"
    assert (
        "## Difference\nnew - old: nothing to compare\ncannot tell: no task was measured on both sides" in done.stdout
    )


def test_worse_never_passes_where_rewards_are_too_large_to_compute_with() -> None:
    done = gated("worse", old=side(a=1e300, b=1), new=side(a=1, b=1e300))
    assert done.status == 3
    assert done.stderr == "gate: worse: cannot tell, because no difference could be computed\n"
    assert "2 tasks measured on both sides; 1 task lost, 1 won\n" in done.stdout


def test_a_rule_that_trips_is_status_3_and_a_line_after_the_whole_report() -> None:
    report = compare(*files(OLD, NEW))
    assert (report.status, report.stderr) == (0, "")
    done = gated("missing>1", "lost>2", "agent-error", "flipped>2")
    assert done == Done(
        3, report.stdout, "gate: missing>1: 2 tasks\ngate: agent-error: 1 task\ngate: flipped>2: 3 tasks\n"
    )


def test_rules_that_hold_change_nothing_but_the_summary() -> None:
    assert gated("missing>2", "lost>2", "worse") == compare(*files(OLD, NEW))


def test_a_worse_verdict_has_its_own_words() -> None:
    old, new = better_or_worse(6, 0)
    done = gated("worse", old=old, new=new)
    assert (done.status, done.stderr) == (3, "gate: worse: the new side is worse\n")
    assert rule_text(Rule("lost>0", 1, True)) == "gate: lost>0: 1 task"


@pytest.mark.parametrize("as_json", [("--json", "dev", "compare"), ("dev", "compare", "--json-stdout")])
def test_it_works_with_json_on_standard_output(as_json: tuple[str, ...]) -> None:
    done = run(*as_json, *files(OLD, NEW), "--fail-on", "lost", "--fail-on", "lost>2", "--fail-on", "worse")
    assert (done.status, done.stderr) == (3, "gate: lost: 2 tasks\n")
    summary = json.loads(done.stdout)
    jsonschema.validate(summary, summary_schema())
    assert summary["gate"] == [
        {"rule": "lost", "value": 2, "tripped": True},
        {"rule": "lost>2", "value": 2, "tripped": False},
        {"rule": "worse", "value": "cannot tell", "tripped": False},
    ]


def test_it_works_with_files_beside_the_report() -> None:
    done = gated("masked", more=("--json", "s.json", "--rerun", "again.txt"))
    assert done.status == 3
    assert done.stdout.endswith("\nwrote s.json\nwrote again.txt\n")
    assert done.stderr == "gate: masked: 3 tasks\n"
    assert json.loads(Path("s.json").read_text("utf-8"))["gate"] == [{"rule": "masked", "value": 3, "tripped": True}]


def test_without_rules_there_is_no_gate() -> None:
    done = run("--json", "dev", "compare", *files(OLD, NEW))
    assert json.loads(done.stdout)["gate"] == []
    assert done.status == 0


def test_an_unreadable_input_is_an_error_and_no_gate() -> None:
    done = compare("none.jsonl", files(OLD, NEW)[1], "--fail-on", "lost")
    assert (done.status, done.stdout) == (1, "")


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("losst", "did you mean lost?"),
        ("flippd>3", "did you mean flipped?"),
        ("agent_error", "did you mean agent-error?"),
        ("worse>2", "worse takes no number"),
        ("lost>", "it is lost or lost>N, N a whole number"),
        ("lost>-1", "it is lost or lost>N, N a whole number"),
        ("lost > 1", "did you mean lost?"),
        ("lost>1\n", "it is lost or lost>N, N a whole number"),
        ("lost>\u0663", "it is lost or lost>N, N a whole number"),
        ("lost>" + "9" * 5000, "it is lost or lost>N, N a whole number"),
        ("", "rules are flipped, lost, agent-error, masked, missing, worse"),
        ("zzz", "rules are flipped, lost, agent-error, masked, missing, worse"),
    ],
)
def test_an_unknown_rule_is_wrong_usage(rule: str, hint: str) -> None:
    done = compare(*files(OLD, NEW), "--fail-on", rule)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0].startswith("error: argument --fail-on: ")
    assert done.stderr.splitlines()[0].endswith(f"is not a rule; {hint}")
    assert not is_rule(rule)
    with pytest.raises(ValidationError):
        RolloutCompareConfig(old_rollouts="a", new_rollouts="b", fail_on=(rule,))


def test_the_config_has_the_same_rules(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = files(OLD, NEW)
    assert run_compare(RolloutCompareConfig(old_rollouts=old, new_rollouts=new, fail_on=("lost>1", "masked>9"))) == 3
    assert capsys.readouterr().err == "gate: lost>1: 2 tasks\n"
    assert run_compare(RolloutCompareConfig(old_rollouts=old, new_rollouts=new, fail_on=("lost>2",))) == 0


# The table


def test_the_pattern_the_hints_and_the_help_are_made_from_the_table() -> None:
    for name, rule in RULES.items():
        assert is_rule(name)
        assert is_rule(f"{name}>3") is (rule.broken is None)
        assert re.search(rf"\b{name}\b", rules_in_short())
        assert rule.in_short in rules_in_short()
        assert ("takes no number" in rule_form(name)) is (rule.broken is not None)
    assert rules_in_short() == (
        "flipped, lost (the old side wins), agent-error, masked or missing, each with >N for more than N tasks (in "
        "quotes), or worse (the verdict)"
    )


def test_a_rule_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is neither 0 nor the number of anything else: it can only come from the row."""
    monkeypatch.setitem(RULES, "odd", gate.GateRule("an odd task", lambda result: 7, says=lambda value: f"odd {value}"))
    checked = check_rules(compare_rollouts(OLD, NEW), ["odd>6", "odd>7"])
    assert checked == (Rule("odd>6", 7, True), Rule("odd>7", 7, False))
    assert rule_text(checked[0]) == "gate: odd>6: odd 7"
