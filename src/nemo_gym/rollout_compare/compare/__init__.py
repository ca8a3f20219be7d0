"""Joined tables to a finished result."""

from nemo_gym.rollout_compare.compare.categories import compare_rollouts, compare_tables

__all__ = ["compare_rollouts", "compare_tables"]
