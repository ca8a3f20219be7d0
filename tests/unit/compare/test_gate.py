"""The gate: each rule, its status and its line, and that nothing unknown passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from nemo_gym.rollout_compare import (
    CompareInputError,
    CompareResult,
    RolloutCompareConfig,
    compare_files,
    compare_rollouts,
    run_compare,
    summary_schema,
)
from nemo_gym.rollout_compare.compare.gate import (
    RULES,
    check_gate,
    is_rule,
    rule_form,
    rule_text,
    rules_in_short,
)
from nemo_gym.rollout_compare.compare.questions import Questions
from nemo_gym.rollout_compare.schema import Rule
from tests.support import Done, assert_refused, compare, run, write_rows

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

VALUES = {"flipped": 3, "lost": 2, "lost-beyond-noise": 2, "agent-error": 1, "masked": 3, "missing": 2}


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
    """Nine tasks in all."""
    broken = [name, f"{name}>0", f"{name}>{value - 1}", f"{name}>0%", f"{name}>{100 * (value - 0.1) / 9:.4f}%"]
    kept = [f"{name}>{value}", f"{name}>{value + 1}", f"{name}>00{value}", f"{name}>{100 * (value + 0.1) / 9:.4f}%"]
    checked = check_gate(compare_rollouts(OLD, NEW), [*broken, *kept])
    assert checked == (*(Rule(rule, value, True) for rule in broken), *(Rule(rule, value, False) for rule in kept))


@pytest.mark.parametrize("name", VALUES)
def test_no_task_trips_nothing(name: str) -> None:
    assert check_gate(compare_rollouts(side(a=1), side(a=1)), [name]) == (Rule(name, 0, False),)


@pytest.mark.parametrize(
    ("lost", "won", "verdict", "tripped"),
    [
        (6, 0, "worse", True),
        (0, 6, "better", False),
        (8, 2, "no significant change", False),  # p = (2 (1 + 10) + 45) / 2^10 = 0.065
        (7, 1, "worse", True),  # p = (2 + 8) / 2^8 = 0.04
        (4, 0, "cannot tell", False),  # p = 1 / 2^4 = 0.06
    ],
)
def test_worse_is_the_verdict(lost: int, won: int, verdict: str, tripped: bool) -> None:
    result = compare_rollouts(*better_or_worse(lost, won))
    assert check_gate(result, ["worse"]) == (Rule("worse", verdict, tripped),)


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
    assert "## Difference\ncannot tell: nothing to compare; 0 lost, 0 won" in done.stdout


def test_worse_never_passes_where_rewards_are_too_large_to_compute_with() -> None:
    done = gated("worse", old=side(a=1e300, b=1), new=side(a=1, b=1e300))
    assert done.status == 3
    assert done.stderr == "gate: worse: cannot tell, because no difference could be computed\n"
    assert "cannot tell: 2 tasks without figures; 1 lost, 1 won\n" in done.stdout


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
    assert summary["gate"] == {
        "passed": False,
        "rules": [
            {"rule": "lost", "value": 2, "tripped": True},
            {"rule": "lost>2", "value": 2, "tripped": False},
            {"rule": "worse", "value": "cannot tell", "tripped": False},
        ],
    }


def test_it_works_with_files_beside_the_report() -> None:
    done = gated("masked", more=("--json", "s.json", "--rerun", "again.txt"))
    assert done.status == 3
    assert done.stdout.endswith("\nwrote s.json\nwrote again.txt\n")
    assert done.stderr == "gate: masked: 3 tasks\n"
    assert json.loads(Path("s.json").read_text("utf-8"))["gate"]["rules"] == [
        {"rule": "masked", "value": 3, "tripped": True}
    ]


def test_without_rules_there_is_no_gate() -> None:
    done = run("--json", "dev", "compare", *files(OLD, NEW))
    assert json.loads(done.stdout)["gate"] == {"passed": True, "rules": []}
    assert done.status == 0


def test_an_unreadable_input_is_an_error_and_no_gate() -> None:
    done = compare("none.jsonl", files(OLD, NEW)[1], "--fail-on", "lost")
    assert (done.status, done.stdout) == (1, "")


RULES_ARE = (
    "rules are flipped, lost, lost-beyond-noise, agent-error, masked, missing, inputs-differ, worse, not-shown, "
    "coverage, input-tokens, cached-tokens, output-tokens, reasoning-tokens, turns, tool-calls, seconds, dollars, "
    "regression"
)


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("losst", "did you mean lost?"),
        ("flippd>3", "did you mean flipped?"),
        ("agent_error", "did you mean agent-error?"),
        ("worse>2", "worse takes no number"),
        ("lost>", "it is lost, lost>N or lost>N%, N a number"),
        ("lost>-1", "it is lost, lost>N or lost>N%, N a number"),
        ("coverage<95", "it is coverage<N%, N from 0 to 100"),
        ("lost>1\n", "it is lost, lost>N or lost>N%, N a number"),
        ("lost>\u0663", "it is lost, lost>N or lost>N%, N a number"),
        ("lost>" + "9" * 5000, "it is lost, lost>N or lost>N%, N a number"),
        ("", RULES_ARE),
        ("zzz", RULES_ARE),
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


def attempts(**tasks: str) -> Rows:
    return [{"task_id": task, "reward": int(mark)} for task, marks in tasks.items() for mark in marks]


def test_a_loss_that_its_attempts_excuse_breaks_no_rule_of_losses_beyond_noise() -> None:
    """3/4 -> 1/4 is noise, 4/4 -> 0/4 is not; of one attempt, or of three, nobody can tell."""
    old, new = (
        attempts(noise="1110", real="1111", one="1", three="111"),
        attempts(noise="0001", real="0000", one="0", three="000"),
    )
    assert check_gate(compare_rollouts(old, new), ["lost", "lost-beyond-noise"]) == (
        Rule("lost", 4, True),
        Rule("lost-beyond-noise", 3, True),
    )


def test_tasks_that_were_asked_differently() -> None:
    def asked(**tasks: str) -> Rows:
        return [{"task_id": n, "reward": 1, "responses_create_params": {"input": text}} for n, text in tasks.items()]

    result = compare_rollouts(asked(a="x", b="y", c="z"), asked(a="x", b="Y", c="Z"), "task_id")
    assert check_gate(result, ["inputs-differ", "inputs-differ>2"], {"b"}) == (
        Rule("inputs-differ", 1, True),
        Rule("inputs-differ>2", 1, False),
    )


@pytest.mark.parametrize(("limit", "tripped"), [("44.4", False), ("44.5", True), ("100", True), ("0", False)])
def test_coverage_is_the_share_of_tasks_that_both_sides_measured(limit: str, tripped: bool) -> None:
    """Of nine tasks four, of six with three allowed ones aside four; not rounded up."""
    result = compare_rollouts(OLD, NEW)
    assert check_gate(result, [f"coverage < {limit} %"]) == (Rule(f"coverage<{limit}%", "44.4%", tripped),)
    assert check_gate(result, ["coverage<66%"], {"m1", "m2", "x"}) == (Rule("coverage<66%", "66.6%", False),)
    assert check_gate(compare_rollouts(side(a=1), side(b=1)), ["coverage<9%"], "ab")[0].value == "100.0%"
    assert rule_text(Rule("coverage<95%", "44.4%", True)) == (
        "gate: coverage<95%: 44.4% of the tasks are measured on both sides"
    )


def test_regression_stands_for_what_no_release_should_have() -> None:
    checked = check_gate(compare_rollouts(OLD, NEW), ["regression"])
    assert [(rule.rule, rule.tripped) for rule in checked] == [
        ("worse", False),
        ("missing", True),
        ("inputs-differ", False),
        ("coverage<95%", True),
    ]


@pytest.mark.parametrize(
    ("margin", "value", "tripped"),
    [(0.03, "same", False), (0.005, "not shown", True)],
)
def test_what_is_not_shown(margin: float, value: str, tripped: bool) -> None:
    rows = side(**{f"t{n}": 1 for n in range(200)})
    result = compare_rollouts(rows, rows, questions=Questions(margin=margin))
    assert check_gate(result, ["not-shown"]) == (Rule("not-shown", value, tripped),)
    assert rule_text(Rule("not-shown", value, True)) == f"gate: not-shown: {value}"


def test_what_is_not_shown_is_told_with_how_far_it_is_missed() -> None:
    """Three lost of three: Tango's interval reaches down to a loss of all, -1."""
    told = "not shown to be the same within 2 points: it could be as low as -100 points (95%, one-sided)"
    old, new = side(a=1, b=1, c=1), side(a=0, b=0, c=0)
    done = gated("not-shown", more=("--margin", "0.02", "--json", "s.json"), old=old, new=new)
    assert (done.status, done.stderr) == (3, f"gate: not-shown: {told}\n")
    assert json.loads(Path("s.json").read_text())["gate"]["rules"] == [
        {"rule": "not-shown", "value": "not shown", "tripped": True}
    ]
    done = gated("not-shown", more=("--margin", "0.02", "--markdown", "-"), old=old, new=new)
    assert f"**Gate: broken**: `not-shown` (`{told}`)\n" in done.stdout
    gated("not-shown", more=("--margin", "0.02", "--html", "c.html"), old=old, new=new)
    assert f'"not-shown","{told}",true' in Path("c.html").read_text()
    done = gated("not-shown", more=("--margin", "5"), old=side(a=40, b=40), new=side(a=30, b=30))
    assert done.stderr == "gate: not-shown: there is no interval to hold the margin against\n"
    held = gated("not-shown", more=("--margin", "0.9", "--markdown", "-"), old=old, new=old)
    assert "**Gate: passed**: `not-shown` (`same`)\n" in held.stdout


@pytest.mark.parametrize(
    ("rule", "right"),
    [
        (" lost > 1 ", True),
        ("missing > 0.5 %", True),
        ("coverage<95%", True),
        ("coverage < 99.5%", True),
        ("regression", True),
        ("not-shown", True),
        ("coverage>95%", False),
        ("coverage", False),
        ("regression>1", False),
        ("lost<1", False),
        ("lost>1.5", False),
        ("lo st", False),
        ("lost>100%", True),
        ("lost>100.1%", False),
        ("coverage<100.00%", True),
        ("coverage<101%", False),
    ],
)
def test_what_a_rule_looks_like(rule: str, right: bool) -> None:
    assert is_rule(rule) is right


def test_the_pattern_the_hints_and_the_help_are_made_from_the_table() -> None:
    for name, rule in RULES.items():
        assert is_rule(name)
        assert is_rule(f"{name}>3") is (rule.tasks is not None)
        assert name in rules_in_short()
        assert rule.in_short in rules_in_short()
        assert ("takes no number" in rule_form(name)) is (rule.tasks is None)
    assert rule_form("coverage") == "it is coverage<N%, N from 0 to 100"
    assert rules_in_short() == (
        "flipped, lost (the old side wins), lost-beyond-noise, agent-error, masked, missing or inputs-differ, each "
        "with >N for more than N tasks or >N% of them (in quotes); worse (the verdict), not-shown (with --margin), "
        "coverage<N% (measured on both sides); input-tokens, cached-tokens, output-tokens, reasoning-tokens, turns, "
        "tool-calls, seconds, dollars, each with >N for more than N times the cost; "
        "or regression (worse, missing, inputs-differ, coverage<95%)"
    )


def costing(*costs: float) -> Rows:
    """Rows that cost so many output tokens."""
    usages = ({"output_tokens": cost} for cost in costs)
    return [{"task_id": f"t{i}", "reward": 1, "response": {"usage": usage}} for i, usage in enumerate(usages)]


@pytest.mark.parametrize(
    ("rule", "new", "value", "tripped"),
    [
        # The factors are 1.5 and 2 in turn: their geometric mean is 1.73, and t(0.975; 7) s / sqrt(8) is 0.1286.
        ("output-tokens > 1.5", [150, 200] * 4, "1.73 times the old cost (1.52 to 1.97)", True),
        ("output-tokens>1.6", [150, 200] * 4, "1.73 times the old cost (1.52 to 1.97)", False),
        ("output-tokens>2", [150, 200], "2 tasks with such a cost on both sides, it takes 6", True),
        ("output-tokens>9", [150] * 8, "1.50 times the old cost in every task", False),
        ("output-tokens>1.4", [150] * 8, "1.50 times the old cost in every task", True),
        ("seconds>1.2", [150] * 8, "no task tells it on both sides", True),
    ],
)
def test_a_cost_is_too_high_where_all_of_its_interval_is(
    rule: str, new: list[float], value: str, tripped: bool
) -> None:
    result = compare_rollouts(costing(*[100] * len(new)), costing(*new))
    (checked,) = check_gate(result, [rule])
    assert checked == Rule(rule.replace(" ", ""), value, tripped)
    assert rule_text(checked) == f"gate: {checked.rule}: {value}"


@pytest.mark.parametrize(
    "rule", ["output-tokens", "output-tokens>", "output-tokens<2", "tokens>2", "turns>-1", "turns>5%"]
)
def test_a_cost_needs_a_limit(rule: str) -> None:
    assert not is_rule(rule)


def test_how_a_rule_of_a_cost_is_written() -> None:
    assert rule_form("turns") == "it is turns>N, N how many times the old cost is too much, such as 1.2"
    assert "seconds, dollars, each with >N for more than N times the cost" in rules_in_short()


@pytest.mark.parametrize("percent", range(1, 100))
def test_exactly_so_many_percent_are_not_more(percent: int) -> None:
    """29 / 100 * 100 is 28.999999999999996 to a double."""
    old = side(**{f"t{n}": 1 for n in range(100)})
    new = side(**{f"t{n}": int(n >= percent) for n in range(100)})
    result = compare_rollouts(old, new)
    (rule,) = check_gate(result, [f"lost>{percent}%"])
    assert (rule.value, rule.tripped) == (percent, False)
    assert check_gate(result, [f"lost>{percent - 1}.999%"])[0].tripped


def test_coverage_is_never_shown_as_the_limit_that_it_does_not_reach() -> None:
    """949.6 in 1,000."""
    old = side(**{f"t{n}": 1 for n in range(2500)})
    result = compare_rollouts(old, old[: 2500 - 126])
    assert check_gate(result, ["coverage<95%"]) == (Rule("coverage<95%", "94.9%", True),)
    assert check_gate(result, ["coverage<94.96%"]) == (Rule("coverage<94.96%", "94.9%", False),)


NO_MARGIN = "not-shown is about a margin: say which with --margin"


@pytest.mark.parametrize("rule", ["not-shown", " not-shown "])
def test_what_is_not_shown_takes_a_margin(rule: str) -> None:
    done = gated(rule)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == f"error: {NO_MARGIN}\ntry 'gym dev compare --help'\n"
    assert gated(rule, more=("--margin", "0.9"), old=side(a=1), new=side(a=1)).status == 0
    with pytest.raises(ValidationError, match=NO_MARGIN):
        RolloutCompareConfig(old_rollouts="a", new_rollouts="b", fail_on=(rule,))
    assert RolloutCompareConfig(old_rollouts="a", new_rollouts="b", fail_on=(rule,), margin=0).margin == 0
    with pytest.raises(CompareInputError, match=NO_MARGIN):
        compare_files(*files(OLD, NEW), fail_on=[rule])
    with pytest.raises(CompareInputError, match=NO_MARGIN):
        check_gate(compare_rollouts(OLD, NEW), [rule])


def test_a_script_holds_a_result_against_rules() -> None:
    result = compare_rollouts(OLD, NEW)
    assert check_gate(result, "lost > 1") == (Rule("lost>1", 2, True),)
    assert check_gate(result, ["lost", "missing"], allowed=["lost", "x", "y"]) == (
        Rule("lost", 1, True),
        Rule("missing", 0, False),
    )
    with pytest.raises(CompareInputError, match="'losses' is not a rule; rules are flipped, lost"):
        check_gate(result, ["losses"])


def test_a_summary_is_held_against_rules_as_its_runs_are() -> None:
    rules = [*VALUES, "worse", "lost>1", "coverage<60%", "regression"]
    words = [word for rule in rules for word in ("--fail-on", rule)]
    compare(*files(OLD, NEW), *words, "--json", "s.json")
    read = CompareResult.from_json("s.json")
    assert check_gate(read, rules) == read.gate == compare_files(*files(OLD, NEW), fail_on=rules).gate


def test_no_output_goes_where_the_allowed_tasks_are() -> None:
    Path("allow.txt").write_text("lost # known\n")
    Path("link.txt").symlink_to("allow.txt")
    for output in ("--rerun", "--json", "--html", "--markdown", "--junit"):
        for path in ("allow.txt", "link.txt"):
            done = compare(*files(OLD, NEW), "--allow", "allow.txt", output, path)
            assert_refused(done, f"cannot write {path}: it is the input allow.txt")
    assert Path("allow.txt").read_text() == "lost # known\n"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("margin", -1, "'-1' is not a number, 0 or more"),
        ("margin", float("nan"), "'nan' is not a number"),
        ("tolerance", float("inf"), "'inf' is not a number"),
        ("tail", -1, "'-1' is not a whole number"),
        ("tail", True, "'True' is not a whole number"),
        ("jobs", 0, "'0' is not a whole number, 1 or more"),
        ("fail_on", ["nonsense"], "'nonsense' is not a rule"),
        ("fail_on", "lost>200%", "'lost>200%' is not a rule"),
        ("by", [""], "it is empty"),
    ],
)
def test_a_script_cannot_ask_what_the_command_refuses(option: str, value: Any, said: str) -> None:
    options: Any = {option: value}
    with pytest.raises(CompareInputError, match=f"{option}: {said}"):
        compare_files(*files(OLD, NEW), **options)


def test_a_script_may_give_numbers_as_text_and_paths_as_paths() -> None:
    options: Any = {"margin": "0.9", "tolerance": "1e-9", "allow": Path("allow.txt"), "fail_on": ("not-shown", "lost")}
    Path("allow.txt").write_text("lost\n")
    found = compare_files(*files(OLD, NEW), **options)
    assert found.statistics is not None
    assert found.statistics.margin is not None
    assert found.statistics.margin.margin == 0.9
    assert [rule.rule for rule in found.gate] == ["not-shown", "lost"]


@pytest.mark.parametrize("margin", ["1_0", "٣", " 0.1", "0.1 ", "0x1", "1e400", "nan", "inf", "-1", "", "1,5"])
def test_a_margin_is_a_plain_number(margin: str) -> None:
    done = gated(more=(f"--margin={margin}",))
    assert (done.status, done.stdout) == (2, "")
    assert "is not a number, 0 or more" in done.stderr


@pytest.mark.parametrize(
    ("margin", "meant"),
    [
        ("2", "for 2 points say --margin 0.02"),
        ("1", "for 1 point say --margin 0.01"),
        ("1.5", "for 1.5 points say --margin 0.015"),
        ("150", "say one below 1, such as 0.02"),
    ],
)
def test_a_margin_that_no_two_runs_can_miss_is_refused(margin: str, meant: str) -> None:
    """Rewards from 0 to 1 differ by 1 at most, so a gate on such a margin would be green whatever happens."""
    done = gated("not-shown", more=("--margin", margin), old=side(a=1, b=1), new=side(a=0, b=0))
    assert_refused(done, f"--margin {margin}: all rewards lie from 0 to 1; {meant}")


def test_a_margin_of_more_than_1_is_one_where_rewards_are_larger_or_unknown() -> None:
    assert gated(more=("--margin", "2"), old=side(a=40, b=1), new=side(a=38, b=0)).status == 0
    assert gated(more=("--margin", "2"), old=side(a=1), new=side(b=1)).status == 0
    assert gated(more=("--margin", "2"), old=side(a=0, b=0), new=side(a=0, b=0)).status == 0
    assert gated(more=("--margin", "2", "--lower-is-better"), old=side(a=1, b=0), new=side(a=0, b=0)).status == 0


@pytest.mark.parametrize("margin", ["0", "-0", "-0.0", ".5", "0.", "1e-320", "+0.1", "1E-3"])
def test_every_plain_number_is_a_margin(margin: str) -> None:
    done = gated(more=(f"--margin={margin}",))
    assert (done.status, done.stderr) == (0, "")
    assert "within -0" not in done.stdout
