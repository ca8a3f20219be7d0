"""Two tables to one list of tasks."""

from nemo_gym.rollout_compare.join.joined import Join, detect_task_key, join

__all__ = ["Join", "detect_task_key", "join"]
