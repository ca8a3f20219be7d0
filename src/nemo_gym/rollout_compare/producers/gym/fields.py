"""What NeMo Gym calls the fields of its rows. No other module of the package knows these names."""

from __future__ import annotations

from nemo_gym.rollout_compare.schema import Fields

#: Whether the evaluation ran to its end: false says that a zero was not earned. Then fields that say so by being set.
COMPLETED_PATH = "evaluation_completed"
FAULT_PATHS = (
    "verifier_error",
    "eval_timed_out",
    "container_timed_out",
    "sandbox_failed",
    "metadata.exception_info",
)

#: What a row says of its result, in the order of `facts_of`'s arguments.
RESULT_PATHS = (
    "reward",
    "mask_sample",
    "instance_config.mask_sample",
    "failure_kind",
    "error",
    "response.metadata",
    COMPLETED_PATH,
    *FAULT_PATHS,
)

#: What tells a row's attempt apart: the task's position in the run's input file, and the attempt's number.
ATTEMPT_PATHS = ("_ng_task_index", "_ng_rollout_index")

#: What the system was asked.
INPUT_PATH = "responses_create_params.input"

#: Where a row holds its verifier's output: a log's place, else the first of the others that is not blank.
LOGS_PATH = "verifier_logs_dir"
OUTPUT_PATHS = (
    *("test_output", "verifier_stdout", "verifier_output"),
    *("container_stderr", "judge_output", "judge_text", "details"),
)
JSON_OUTPUTS = ("details",)
MORE_LOGS = ("log_dir",)

#: Where a row says what became of single tests: SWE-bench's report, by itself or under the instance's name.
TESTS_PATHS = ("tests_status", "metadata.eval_report")

#: Where the agent's final answer is: a patch, or the last thing that it said.
ANSWER_PATHS = ("model_patch", "patch", "response.output")

#: Fields that may hold a task's id, best first.
KEY_CANDIDATES = (
    "_ng_task_id",
    "task_name",
    "task_id",
    "verifier_metadata.task_id",
    "verifier_metadata.task_name",
    "verifier_metadata.instance_id",
    "verifier_metadata.id",
)

#: Fields that may hold it in other producers' rows; asked only after those, and never without saying so.
FURTHER_CANDIDATES = (
    "instance_id",
    "problem_id",
    "question_id",
    "example_id",
    "uuid",
    "id",
    "task_idx",
    "scenario_id",
    "responses_create_params.metadata.instance_id",
    "responses_create_params.metadata.task_name",
)

#: A field that is an identity by its definition: it is never questioned.
CERTAIN = ("_ng_task_id",)

#: What rows say that were made of failed attempts, and the rollouts file that a row is of where a run has several.
FAILED = "_ng_failed_attempt"
SHARD = "_ng_shard"

#: Fields of the record of a failed attempt.
NOT_AN_ATTEMPT = ("_ng_unrouted_run_error", "_ng_dispatch_drained")
OMITTED = "_ng_omitted_rollout"
FAILURE_KINDS = ("failure_kind", "_ng_failure_class")
FAILURE_REASONS = ("failure_reason", "_ng_failure_message")

#: What the names of the files that lie beside rollouts end in, before `.jsonl`.
FAILURES_ENDING = "_failures"
PLANNED_ENDING = "_materialized_inputs"
OTHER_ENDINGS = ("_reward_profiling",)

#: What a row has that was run, and what it has that is to be run.
RESULT_FIELDS = ("reward", "response", "mask_sample", "failure_kind", "error")
ASKED_FIELD = "responses_create_params"

#: What the names of fields begin with that only NeMo Gym writes.
OWN_FIELDS = "_ng_"


#: The object of settings; what stands in it that is none: what was asked, whose task it is, and names of requests.
SETTINGS_OBJECT = "responses_create_params"
NO_SETTINGS = frozenset(
    {"input", "metadata", "conversation", "previous_response_id", "prompt_cache_key", "safety_identifier", "user"}
)

#: Settings that have a name of their own in it; all others are one setting together, so that there are only so many.
PARAMETERS = frozenset(
    {
        "background",
        "context_management",
        "frequency_penalty",
        "include",
        "max_output_tokens",
        "max_tool_calls",
        "model",
        "moderation",
        "parallel_tool_calls",
        "presence_penalty",
        "prompt",
        "prompt_cache_retention",
        "reasoning",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_k",
        "top_logprobs",
        "top_p",
        "truncation",
    }
)
INSTRUCTIONS = "instructions"
INSTRUCTIONS_PATH = f"{SETTINGS_OBJECT}.{INSTRUCTIONS}"

#: What else says how an attempt was run.
MODEL_PATH = "response.model"
METADATA_PATH = RESULT_PATHS[5]
AGENT_PATH = "agent_ref"
SERVER_PATH = "_ng_environment_server"
SKILLS_PATH = "skills_ref"
HARNESS = "harness"
HARNESS_VERSION = "harness_version"
VERSION_ENDING = "version"

#: What says what it cost, and what it did.
USAGE_PATH = "response.usage"
USAGE = {
    "input-tokens": ("input_tokens",),
    "cached-tokens": ("input_tokens_details", "cached_tokens"),
    "output-tokens": ("output_tokens",),
    "reasoning-tokens": ("output_tokens_details", "reasoning_tokens"),
    "dollars": ("cost",),
}
TURNS_PATH = "turns_used"
PERFORMANCE_PATH = "ng_perf"
LATENCY = "total_latency_ms"
STATUS_PATH = "response.status"
INCOMPLETE_PATH = "response.incomplete_details"
TOO_LONG = ("max_output_tokens", "max_tokens", "length")
STEPS_PATH = "response.output"


def key_fields(key: str | None) -> Fields:
    """The fields that may name the task: the given one, or those that are tried in turn."""
    never = (*ATTEMPT_PATHS, *RESULT_FIELDS[:2])
    usual = Fields(KEY_CANDIDATES, FURTHER_CANDIDATES, CERTAIN, INPUT_PATH, ATTEMPT_PATHS[0], RESULT_FIELDS, never)
    return usual.or_named(key)
