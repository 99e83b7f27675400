"""Markov operators built from a sample, and their generators."""

from .generator import generator

__all__ = ["generator"]
