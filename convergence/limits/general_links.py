"""A general antisymmetric link a(x, y): its drift, and its step law by quadrature on a chart."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import real_array
from ..errors import NoReferenceError
from ..scores import Distance, GeneralLink
from ..spaces import Chart, SmoothFunction, Space
from .law import StepLaw, score_law
from .quadrature import QuadratureLaw
from .witten import second_and_first_order


class LinkLaw(StepLaw):
    """The step law of exp(-β|x - y|² + a(x, y)) on a chart.

    From one target the link is a log-weight of the keys, y ↦ a(x, y).

    Parameters
    ----------
    space : Chart
    score : GeneralLink

    Raises
    ------
    NoReferenceError
        On another kind of space.
    """

    def __init__(self, space: Space, score: GeneralLink) -> None:
        if not isinstance(space, Chart):
            raise NoReferenceError(
                f"the expectation of a general link needs a Chart, not {type(space).__name__}: "
                "a circle is Ellipse(1, 1)"
            )
        self.space, self.score = space, score
        self._laws: dict[bytes, QuadratureLaw] = {}

    def _from(self, target: np.ndarray) -> QuadratureLaw:
        key = target.tobytes()
        if key not in self._laws:
            start = self.space.features(target[None])

            def link(y: np.ndarray) -> np.ndarray:
                features = self.space.features(y).reshape(-1, self.space.ambient_dim)
                return self.score.values(start, features)[0].reshape(y.shape[:-1])

            self._laws[key] = QuadratureLaw(self.space, Distance(), link)
        return self._laws[key]

    def _each(self, value: Callable[[QuadratureLaw, np.ndarray], Any], x: np.ndarray) -> np.ndarray:
        """A value of every target's own law, at that target."""
        x = real_array("points", x, finite=False)
        found = np.empty(x.shape[:-1])
        for index in np.ndindex(found.shape):
            found[index] = value(self._from(x[index]), x[index])
        return found

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        return self._each(lambda law, t: law.log_mass(t, beta, power), x)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._each(lambda law, t: law.mean_increment(f, t, beta, power), x)

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._each(lambda law, t: law.mean_squared_increment(f, t, beta, power), x)


@second_and_first_order.register
def _(
    score: GeneralLink, space: Space, f: SmoothFunction, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The force is ∇ log ρ + c."""
    force = space.log_density_gradient(x) + score.one_form(space.features(x))
    return -space.laplacian(f, x), -2 * np.einsum("...a,...a->...", force, space.gradient(f, x))


@score_law.register
@lru_cache(maxsize=64)
def _(score: GeneralLink, space: Space) -> LinkLaw:
    return LinkLaw(space, score)
