"""Markov operators built from a sample, their generators, laws, currents and spectra."""

from .bridge import Bridge, bridge
from .communication import communicating_classes, restricted
from .currents import (
    cycle_affinities,
    elimination_law,
    entropy_production,
    key_difference,
    net_flux,
    query_difference,
    time_reversal,
)
from .energy import dirichlet_parts
from .entries import log_entries, log_matrix
from .generator import generator, streamed_degree, streamed_generator, streamed_parts
from .heads import head_operator
from .magnetic import MagneticOperator, bilinear_phase
from .markov import Component, MarkovOperator
from .normalisations import coifman_lafon, log_row_sums, sample_log_weights, target_measure
from .reading import HeadReading, read_head, read_heads
from .scored import ScoreOperator
from .sinkhorn import Scaling, sinkhorn
from .spectrum import (
    Eigenpairs,
    Stationary,
    eigenpairs,
    reversible_law,
    stationary,
    stationary_by_class,
)
from .walk import walk_density

__all__ = [
    "Bridge",
    "Component",
    "Eigenpairs",
    "HeadReading",
    "MagneticOperator",
    "MarkovOperator",
    "Scaling",
    "ScoreOperator",
    "Stationary",
    "bilinear_phase",
    "bridge",
    "coifman_lafon",
    "communicating_classes",
    "cycle_affinities",
    "dirichlet_parts",
    "eigenpairs",
    "elimination_law",
    "entropy_production",
    "generator",
    "head_operator",
    "key_difference",
    "log_entries",
    "log_matrix",
    "log_row_sums",
    "net_flux",
    "query_difference",
    "read_head",
    "read_heads",
    "restricted",
    "reversible_law",
    "sample_log_weights",
    "sinkhorn",
    "stationary",
    "stationary_by_class",
    "streamed_degree",
    "streamed_generator",
    "streamed_parts",
    "target_measure",
    "time_reversal",
    "walk_density",
]
