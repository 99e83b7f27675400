"""Bilinear links xᵀMy between query and key, as plain matrices.

A link is a term a(x, y) of the score beside the distance; its first-order effect is the one-form
c = ∂_y a at y = x, which for a bilinear link is Mᵀx. With an antisymmetric M nothing but the
drift -2ħ⟨c, df⟩ is added. A symmetric M is exact to that order, c = d(½ xᵀMx), a Doob weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, require_positive

Matrix = tuple[tuple[float, ...], ...]
"""Rows of a square matrix, hashable."""


def matrix_of(rows: object) -> Matrix:
    """A square matrix of finite numbers as nested tuples.

    Raises
    ------
    InvalidInputError
    """
    found = real_array("a link", rows)
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise InvalidInputError(f"a link must be a square matrix, not an array {found.shape}")
    return tuple(tuple(row) for row in found.tolist())


def harmonic_link(coefficients: Sequence[float], radii: Sequence[float] = ()) -> Matrix:
    """The closed one-form Σ c_i dθ_i on a circle or a flat torus: a = Σ c_i sin(θ_i' - θ_i).

    With the ambient coordinates (R cos θ, R sin θ) of a circle this is bilinear,

        c sin(θ' - θ) = xᵀMy,   M = (c/R²) [[0, 1], [-1, 0]],   c = Mᵀx.

    Where c ≠ 0 the form is not exact, and drives a current around the circle (Novikov).

    Parameters
    ----------
    coefficients : sequence of float
        c_i, one a circle.
    radii : sequence of float, optional
        One a circle; 1 by default.

    Returns
    -------
    Matrix, shape (2m, 2m)

    Examples
    --------
    >>> harmonic_link([0.8])
    ((0.0, 0.8), (-0.8, 0.0))
    """
    lengths = [
        require_positive("a radius", radius) for radius in radii or [1.0] * len(coefficients)
    ]
    if len(lengths) != len(coefficients):
        raise InvalidInputError(
            f"{len(coefficients)} coefficients need as many radii, not {len(lengths)}"
        )
    found = np.zeros((2 * len(lengths), 2 * len(lengths)))
    numbers = real_array("coefficients", coefficients).tolist()
    for i, (c, radius) in enumerate(zip(numbers, lengths, strict=True)):
        found[2 * i, 2 * i + 1], found[2 * i + 1, 2 * i] = c / radius**2, -c / radius**2
    return matrix_of(found)


def killing_link(omega: Sequence[float]) -> Matrix:
    """The link (ω×x)·y in R³: on a round sphere c is the Killing field of the rotation ω.

    Parameters
    ----------
    omega : sequence of three floats

    Returns
    -------
    Matrix, shape (3, 3)
    """
    rotation = real_array("omega", omega)
    if rotation.shape != (3,):
        raise InvalidInputError(f"a rotation in space needs three numbers, not {omega}")
    return matrix_of(np.cross(np.eye(3), rotation) * -1.0)
