"""Markov operators built from a sample, their generators, laws and spectra."""

from .generator import generator, streamed_degree, streamed_generator
from .markov import Component, MarkovOperator
from .spectrum import Eigenpairs, Stationary, eigenpairs, reversible_law, stationary

__all__ = [
    "Component",
    "Eigenpairs",
    "MarkovOperator",
    "Stationary",
    "eigenpairs",
    "generator",
    "reversible_law",
    "stationary",
    "streamed_degree",
    "streamed_generator",
]
