"""Links as data: the forms that the matrices stand for, and what is refused."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.scores import Distance, Sinkhorn, harmonic_link, killing_link
from convergence.spaces import Circle, FlatTorus

RNG = np.random.default_rng(4)


def test_a_sine_is_bilinear_in_the_ambient_coordinates():
    """Σ c_i sin(θ_i' - θ_i) = xᵀMy on circles of any radius."""
    torus, c = FlatTorus((Circle(), Circle(radius=0.7))), np.array([0.8, -1.3])
    theta, other = RNG.uniform(-np.pi, np.pi, (2, 40, 2))
    x, y = (
        np.concatenate([circle.at(t[:, i]) for i, circle in enumerate(torus.circles)], axis=1)
        for t in (theta, other)
    )
    link = np.array(harmonic_link(c, [1.0, 0.7]))
    np.testing.assert_allclose(
        np.einsum("na,ab,nb->n", x, link, y), np.sin(other - theta) @ c, atol=1e-14
    )
    # its one-form is constant: c_i = ⟨Mᵀx, ∂x/∂θ_i⟩
    forms = Distance(link=harmonic_link(c, [1.0, 0.7])).one_form(x)
    along = x[:, ::2] * forms[:, 1::2] - x[:, 1::2] * forms[:, ::2]
    np.testing.assert_allclose(along, np.broadcast_to(c, along.shape), atol=1e-14)


def test_a_killing_link_rotates():
    omega = np.array([0.3, -0.5, 0.9])
    x, y = RNG.standard_normal((2, 9, 3))
    link = np.array(killing_link(omega))
    np.testing.assert_array_equal(link, -link.T)
    expected = np.sum(np.cross(omega, x) * y, axis=1)
    np.testing.assert_allclose(np.einsum("na,ab,nb->n", x, link, y), expected, atol=1e-14)
    form = Distance(link=killing_link(omega)).one_form(x)
    np.testing.assert_allclose(form, np.cross(omega, x), atol=1e-14)


def test_a_link_moves_the_queries():
    """-β|x-y|² + xᵀMy and -β|u-y|² differ by a function of x alone, for any square matrix."""
    link, beta = RNG.standard_normal((3, 3)), 2.5
    score = Distance(link=link)
    x, y = RNG.standard_normal((4, 3)), RNG.standard_normal((6, 3))

    def squares(u):
        return np.sum((u[:, None] - y) ** 2, axis=-1)

    moved = -beta * squares(score.queries(x, beta))
    difference = -beta * squares(x) + x @ link @ y.T - moved
    np.testing.assert_allclose(difference - difference[:, :1], 0, atol=1e-13)
    np.testing.assert_array_equal(score.keys(y), y)
    assert hash(score) == hash(Distance(link=link.tolist()))


def test_bad_links_are_refused():
    for link in (((1.0, 2.0),), ((np.nan,),), (1.0, 2.0), (("a",),), ((1j,),)):
        with pytest.raises(InvalidInputError, match="link must be"):
            Distance(link=link)
    with pytest.raises(InvalidInputError, match="3 rows"):
        Distance(link=harmonic_link([1.0])).queries(np.zeros((2, 3)), 1.0)
    with pytest.raises(InvalidInputError, match="symmetric kernel"):
        Distance(normalisation=Sinkhorn(), link=harmonic_link([1.0]))
    with pytest.raises(InvalidInputError, match="as many radii"):
        harmonic_link([1.0], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="radius"):
        harmonic_link([1.0], [0.0])
    with pytest.raises(InvalidInputError, match="three numbers"):
        killing_link((1.0, 2.0))
