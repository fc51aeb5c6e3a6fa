"""Fixtures that several rooms share."""

from tests.support.cluster import cluster5

__all__ = ["cluster5"]
