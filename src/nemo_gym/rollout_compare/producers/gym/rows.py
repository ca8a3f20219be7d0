"""Rollouts as rows: what their fields are called and say."""

from __future__ import annotations

from nemo_gym.rollout_compare.files import Input, iter_lines
from nemo_gym.rollout_compare.producers.gym.extras import EXTRAS
from nemo_gym.rollout_compare.producers.gym.facts import label_for_message, results_of
from nemo_gym.rollout_compare.producers.gym.fields import (
    ANSWER_PATHS,
    ASKED_FIELD,
    ATTEMPT_PATHS,
    INPUT_PATH,
    JSON_OUTPUTS,
    LOGS_PATH,
    MORE_LOGS,
    OUTPUT_PATHS,
    RESULT_FIELDS,
    RESULT_PATHS,
    TESTS_PATHS,
    key_fields,
)
from nemo_gym.rollout_compare.producers.gym.verdicts import ANSWER_KINDS, answer_of, tests_of
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, parse_object
from nemo_gym.rollout_compare.producers.row_format import RowFormat
from nemo_gym.rollout_compare.schema import input_numbers, task_input


def seems_to_hold_inputs(source: Input) -> str | None:
    """Whether a file's rows are what a run was asked to do: every one has a task's input, none a reward or response."""
    for _, _, line in iter_lines(source):
        try:
            row = parse_object(line)
        except InvalidLine:  # it was left out
            continue
        if ASKED_FIELD not in row or any(name in row for name in RESULT_FIELDS):
            return None
    return "a run's inputs, not its rollouts: no row has a reward or a response"


ROLLOUTS = RowFormat(
    name="rollouts",
    results=RESULT_PATHS,
    results_of=results_of,
    fields_for=key_fields,
    label=label_for_message,
    attempt=ATTEMPT_PATHS,
    input=INPUT_PATH,
    input_numbers=input_numbers,
    input_text=task_input,
    logs=LOGS_PATH,
    outputs=OUTPUT_PATHS,
    json_outputs=JSON_OUTPUTS,
    more_logs=MORE_LOGS,
    tests=TESTS_PATHS,
    tests_of=tests_of,
    answers=ANSWER_PATHS,
    answer_of=answer_of,
    answer_kinds=ANSWER_KINDS,
    doubt=seems_to_hold_inputs,
    extras=EXTRAS,
)
