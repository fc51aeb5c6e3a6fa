"""What the workers inherit: stacks, the Ray runtime_env, references to secrets."""

from runtime_env.build import build

__all__ = ["build"]
