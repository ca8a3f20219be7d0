"""What columns are called that say something known. Case, spaces and hyphens do not count."""

from __future__ import annotations

#: A task's id, best first.
IDS = (
    "task_id",
    "task_name",
    "instance_id",
    "problem_id",
    "question_id",
    "example_id",
    "sample_id",
    "case_id",
    "test_id",
    "item_id",
    "prompt_id",
    "id",
    "uuid",
)
#: What may be one where there is none of these.
MORE_IDS = ("task", "test_case", "case", "name", "key", "title", "problem_name", "doc_id", "index", "idx", "row")
#: Positions in a data set: they name a task only where both runs had it in the same order.
POSITIONS = ("example_id", "sample_id", "id", "doc_id", "index", "idx", "row")

REWARD, SCORE = "reward", "score"
ASKED = ("prompt", "question", "input", "inputs", "problem", "problem_statement", "instruction", "query", "messages")
ASKED_GROUPS = ("inputs", "input")
ERRORS = ("error", "exception", "error_message")
MASKS = ("mask_sample", "masked")
ATTEMPTS = ("attempt", "repeat", "repetition", "trial", "epoch", "seed", "rollout", "iteration", "run")
SETTINGS = ("model", "model_name", "temperature", "agent", "harness")
MEASURES = {
    "input-tokens": ("input_tokens", "prompt_tokens", "n_input_tokens"),
    "output-tokens": ("output_tokens", "completion_tokens", "n_output_tokens"),
    "seconds": ("seconds", "duration", "duration_s", "latency", "latency_s", "execution_time", "elapsed"),
    "dollars": ("cost", "cost_usd", "dollars", "total_cost"),
    "turns": ("turns", "num_turns", "steps"),
}
#: What a row's verifier said, and what the agent answered.
OUTPUTS = ("test_output", "verifier_output", "verifier_stdout", "judge_output", "explanation", "reason", "rationale")
ANSWERS = ("output", "outputs", "response", "completion", "answer", "prediction", "generation")
