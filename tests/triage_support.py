"""Samples of test output, and outcomes in few words."""

from pathlib import Path

from nemo_gym.rollout_compare.explain.triage import TestResults

SAMPLES = Path(__file__).parent / "samples"
DOCS = Path(__file__).parent.parent / "docs"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def words(results: TestResults | None) -> dict[str, str]:
    """Test names and outcomes as plain strings, so that a failed assertion shows a short difference."""
    assert results is not None
    return {name: outcome.value for name, outcome in results.outcomes.items()}


def changed(broken: list[str], fixed: list[str], not_run: list[str] | None = None) -> dict[str, list[str]]:
    """The tests that changed as the JSON summary has them, with no test that only changed its pass rate."""
    return {"broken": broken, "fixed": fixed, "not_run": not_run or [], "changed": []}
