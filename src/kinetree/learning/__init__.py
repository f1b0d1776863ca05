"""Worlds to learn in: environments compiled whole, policies in the kernel, tasks and trainers."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.learning.definition import environment
    from kinetree.learning.distributions import Choice, Integers, Normal, Uniform
    from kinetree.learning.environment import Environment, Unrolled
    from kinetree.learning.kernel import Push
    from kinetree.learning.many_trainings import train_many
    from kinetree.learning.playing import play
    from kinetree.learning.policies import Policy, gru, mlp
    from kinetree.learning.policy_files import load_policy
    from kinetree.learning.runs import Run, load_run
    from kinetree.learning.settings import ARS, PPO
    from kinetree.learning.tasks import task
    from kinetree.learning.training import TrainingInterrupted, train
    from kinetree.learning.worlds import Worlds

__all__ = [
    "ARS",
    "PPO",
    "Choice",
    "Environment",
    "Integers",
    "Normal",
    "Policy",
    "Push",
    "Run",
    "TrainingInterrupted",
    "Uniform",
    "Unrolled",
    "Worlds",
    "environment",
    "gru",
    "load_policy",
    "load_run",
    "mlp",
    "play",
    "task",
    "train",
    "train_many",
]
