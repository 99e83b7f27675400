"""Numerical verification of continuum limits of attention and diffusion-map operators.

The rooms, in the order in which data walks through them (each imports only from those before it):

`backend`       which array library and device
`spaces`        points and exact geometry
`scores`        what is exponentiated and how it is normalised, as plain data
`limits`        the truth: limit generators, exact N = ∞ expectations, sampling constants
`kernels`       the one fused primitive
`operators`     Markov operators and their generators
`verification`  claims, the four checks, verdicts
`claims`        builders that pair an estimate with its references
`running`       cells, seeds, checkpoints, provenance
`reporting`     figures, tables, the claims ledger
`testing`       assertions for a user's own tests
`terminal`      text for terminals that cannot show every character
"""

__version__ = "0.1.0"
