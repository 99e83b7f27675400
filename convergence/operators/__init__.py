"""Markov operators built from a sample, their generators, laws and spectra."""

from .bridge import Bridge, bridge
from .generator import generator, streamed_degree, streamed_generator
from .markov import Component, MarkovOperator
from .normalisations import coifman_lafon, log_row_sums, sample_log_weights, target_measure
from .sinkhorn import Scaling, sinkhorn
from .spectrum import Eigenpairs, Stationary, eigenpairs, reversible_law, stationary

__all__ = [
    "Bridge",
    "Component",
    "Eigenpairs",
    "MarkovOperator",
    "Scaling",
    "Stationary",
    "bridge",
    "coifman_lafon",
    "eigenpairs",
    "generator",
    "log_row_sums",
    "reversible_law",
    "sample_log_weights",
    "sinkhorn",
    "stationary",
    "streamed_degree",
    "streamed_generator",
    "target_measure",
]
