"""The Markov operator against its dense matrix, and the identities it must satisfy."""

import pickle

import numpy as np
import pytest

from convergence.errors import DisconnectedError, InvalidInputError, NoMassError, SpectrumError
from convergence.operators import (
    Component,
    MarkovOperator,
    eigenpairs,
    elimination_law,
    generator,
    log_matrix,
    reversible_law,
    stationary,
)
from convergence.scores import Distance
from convergence.spaces import Circle, Sphere

rng = np.random.default_rng(8)
POINTS = Sphere(2).sample(400, rng)
OTHER = Sphere(2).sample(400, rng)
WEIGHTS = rng.normal(size=400)
SHARE = rng.random(400)


def dense_component(component, beta, self_loops):
    squares = np.sum((component.queries[:, None] - component.keys) ** 2, axis=-1)
    exponents = -beta * squares
    if component.log_weights is not None:
        exponents = exponents + component.log_weights
    if not self_loops:
        np.fill_diagonal(exponents, -np.inf)
    kernel = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    kernel /= kernel.sum(axis=1, keepdims=True)
    return kernel if component.share is None else component.share[:, None] * kernel


def dense(operator):
    return sum(dense_component(c, operator.beta, operator.self_loops) for c in operator.components_)


def operators():
    beta = 20.0
    single = Component(POINTS, POINTS, WEIGHTS)
    mixture = [
        Component(POINTS, POINTS, WEIGHTS, 1 - SHARE),
        Component(-POINTS + 0.1 * OTHER, POINTS, None, SHARE),
    ]
    return {
        "reversible": MarkovOperator([single], beta),
        "without loops": MarkovOperator([single], beta, self_loops=False),
        "directed": MarkovOperator([Component(POINTS + 0.1 * OTHER, POINTS, WEIGHTS)], beta),
        "mixture": MarkovOperator(mixture, beta),
        "rectangular": MarkovOperator([Component(OTHER[:50], POINTS, WEIGHTS)], beta),
    }


every_operator = pytest.mark.parametrize("name", operators())


@every_operator
def test_products_are_those_of_the_matrix(name):
    operator = operators()[name]
    matrix = dense(operator)
    n, m = operator.shape
    right, left = rng.normal(size=(m, 3)), rng.normal(size=(n, 3))
    tolerance = {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(operator @ right, matrix @ right, **tolerance)
    np.testing.assert_allclose(operator @ right[:, 0], matrix @ right[:, 0], **tolerance)
    np.testing.assert_allclose(operator.T @ left, matrix.T @ left, **tolerance)
    np.testing.assert_allclose(operator.T @ left[:, 0], matrix.T @ left[:, 0], **tolerance)
    complex_right = right[:, 0] + 1j * right[:, 1]
    np.testing.assert_allclose(operator @ complex_right, matrix @ complex_right, **tolerance)
    np.testing.assert_allclose(operator.toarray(), matrix, **tolerance)


@every_operator
def test_constants_are_kept(name):
    operator = operators()[name]
    np.testing.assert_allclose(operator @ np.ones(operator.shape[1]), 1, atol=1e-13, rtol=0)


@every_operator
def test_generator_and_carre_du_champ(name):
    operator = operators()[name]
    f, g = POINTS[:, 0] * POINTS[:, 1], POINTS[:, 2]
    if name == "rectangular":
        for call in (lambda: operator.generator(f), lambda: operator.carre_du_champ(f, g)):
            with pytest.raises(InvalidInputError):
                call()
        return
    matrix, hbar = dense(operator), 0.7
    scale = 4 * hbar * operator.beta
    np.testing.assert_allclose(operator.generator(f, hbar), scale * (f - matrix @ f), atol=1e-11)
    increments = [h[None, :] - h[:, None] for h in (f, g)]
    expected = scale / 2 * np.sum(matrix * increments[0] * increments[1], axis=1)
    np.testing.assert_allclose(operator.carre_du_champ(f, g, hbar), expected, atol=1e-11)
    assert np.all(operator.carre_du_champ(np.ones(400), f) == 0)
    if operator.reversible:
        pointwise = generator(
            POINTS, f, Distance(), operator.beta, hbar, self_loops=operator.self_loops
        )
        unweighted = MarkovOperator.of_sample(
            POINTS, Distance(), operator.beta, self_loops=operator.self_loops
        )
        np.testing.assert_allclose(unweighted.generator(f, hbar), pointwise, rtol=1e-13)


@every_operator
def test_log_degrees(name):
    operator = operators()[name]
    for m, c in enumerate(operator.components_):
        exponents = -operator.beta * np.sum((c.queries[:, None] - c.keys) ** 2, axis=-1)
        exponents += 0 if c.log_weights is None else c.log_weights
        if not operator.self_loops:
            np.fill_diagonal(exponents, -np.inf)
        expected = np.log(np.sum(np.exp(exponents), axis=1))
        np.testing.assert_allclose(operator.log_degrees[:, m], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["reversible", "without loops"])
def test_reversibility(name):
    """π_i P_ij = π_j P_ji to rounding, and so no flux."""
    operator = operators()[name]
    found = stationary(operator)
    assert found.method == "closed form"
    assert found.residual < 1e-13
    joint = found.law[:, None] * operator.toarray()
    np.testing.assert_allclose(joint, joint.T, rtol=1e-11, atol=1e-18)
    f = rng.normal(size=400)
    assert np.max(np.abs(operator.flux(found.law) @ f)) < 1e-14


@pytest.mark.parametrize("method", ["scipy.linalg.solve", "scipy.sparse.linalg.eigs"])
@pytest.mark.parametrize("name", ["directed", "mixture"])
def test_stationary_law_of_a_directed_operator(name, method):
    """By a dense solve where points are few, else by an iteration."""
    operator = operators()[name]
    dense_bytes = {} if method.endswith("solve") else {"largest_dense": 8 * 399**2}
    found = stationary(operator, **dense_bytes)
    assert found.method == method
    assert found.residual < 1e-11
    matrix = dense(operator)
    values, vectors = np.linalg.eig(matrix.T)
    expected = np.real(vectors[:, np.argmax(np.real(values))])
    np.testing.assert_allclose(found.law, expected / expected.sum(), atol=1e-11)
    flux, f = operator.flux(found.law), rng.normal(size=(400, 2))
    joint = found.law[:, None] * matrix
    np.testing.assert_allclose(flux @ f, (joint - joint.T) @ f, atol=1e-13)
    np.testing.assert_allclose(flux.T @ f, -(flux @ f), atol=1e-13)
    assert np.max(np.abs(flux @ f)) > 1e-6


@pytest.mark.parametrize("gap", [3.0, 5.0, 8.0])
def test_stationary_law_of_a_walk_that_hardly_mixes(gap):
    """Two clusters, a directed walk: the law's small entries are those of exact elimination."""
    clusters = np.random.default_rng(1).normal(size=(60, 2)) * 0.3
    clusters[30:, 0] += gap
    turn = ((0.0, 0.9), (-0.9, 0.0))
    operator = MarkovOperator.of_sample(clusters, Distance(link=turn), 5.0, self_loops=True)
    exact = elimination_law(np.exp(log_matrix(operator)))
    found = stationary(operator).law
    assert np.sum(found[:30]) == pytest.approx(np.sum(exact[:30]), rel=1e-4)
    if gap > 4:
        np.testing.assert_allclose(found, exact, rtol=1e-9)


@pytest.mark.parametrize("name", ["reversible", "without loops", "directed", "mixture"])
def test_eigenpairs(name):
    operator, hbar = operators()[name], 0.7
    found = eigenpairs(operator, 6, hbar)
    exact = 4 * hbar * operator.beta * (1 - np.linalg.eigvals(dense(operator)))
    exact = exact[np.argsort(np.real(exact))][:6]
    np.testing.assert_allclose(np.real(found.values), np.real(exact), atol=1e-8)
    np.testing.assert_allclose(
        np.sort(np.abs(np.imag(found.values))), np.sort(np.abs(np.imag(exact))), atol=1e-8
    )
    assert np.isrealobj(found.values) == operator.reversible
    assert abs(found.values[0]) < 1e-10
    ground = found.vectors[:, 0] / found.vectors[0, 0]
    np.testing.assert_allclose(ground, 1, atol=1e-9)  # right, not left, eigenvector
    assert np.all(found.residuals < 1e-7)
    again = eigenpairs(operator, 6, hbar)
    np.testing.assert_array_equal(found.values, again.values)


def test_ring_of_a_thousand_nodes():
    """Neighbours on a ring: eigenvalues of P near one, most of them double."""
    n = 1000
    circle = Circle()
    points = circle.at(2 * np.pi * np.arange(n) / n)
    beta = 30.0 / np.sum((points[0] - points[1]) ** 2) / 100
    operator = MarkovOperator.of_sample(points, Distance(), beta, self_loops=True)
    row = np.exp(-beta * np.sum((points[0] - points) ** 2, axis=1))
    row /= row.sum()
    k = np.arange(6)
    exact = 4 * beta * np.sum(row * (1 - np.cos(np.outer(k, 2 * np.pi * np.arange(n) / n))), axis=1)
    found = eigenpairs(operator, 7)
    np.testing.assert_allclose(found.values, exact[[0, 1, 1, 2, 2, 3, 3]], rtol=1e-8, atol=1e-9)


def test_path_of_three_nodes():
    """The right eigenvector of eigenvalue one is constant: divided by sqrt(degree)."""
    points = np.array([[0.0], [1.0], [2.0]])
    operator = MarkovOperator.of_sample(points, Distance(), 1.0, self_loops=True)
    assert eigenpairs(operator, 1).vectors[:, 0] == pytest.approx([1, 1, 1], abs=1e-12)


def test_disconnected_operators_are_named():
    points = np.concatenate([POINTS[:100], POINTS[:50] + 50.0, [[200.0, 0, 0]]])
    operator = MarkovOperator.of_sample(points, Distance(), 1.0, self_loops=True)
    labels = operator.components()
    np.testing.assert_array_equal(labels, np.repeat([0, 1, 2], [100, 50, 1]))
    for call in (lambda: stationary(operator), lambda: eigenpairs(operator, 3)):
        with pytest.raises(DisconnectedError, match=r"3 components.*\[100, 50, 1\]"):
            call()
    law = reversible_law(operator)  # one law a class, when asked
    for label in range(3):
        part = np.where(labels == label, law, 0)
        np.testing.assert_allclose(operator.T @ part, part, atol=1e-15)
    # the identity on two points
    two = MarkovOperator.of_sample(np.array([[0.0], [1.0]]), Distance(), 1e18, self_loops=True)
    with pytest.raises(DisconnectedError):
        stationary(two)


def test_components_follow_what_can_be_seen():
    """A chain of points: joined while β d² stays under 37 or so, one by one beyond."""
    chain = np.arange(300.0)[:, None]
    for beta, count in [(30.0, 1), (45.0, 300)]:
        operator = MarkovOperator.of_sample(chain, Distance(), beta, self_loops=True)
        assert operator.components().max() + 1 == count
    heavy = MarkovOperator([Component(chain, chain, np.where(chain[:, 0] == 0, 20.0, 0.0))], 45.0)
    np.testing.assert_array_equal(heavy.components()[:3], [0, 0, 1])  # seen by its neighbour


def test_refusals():
    with pytest.raises(InvalidInputError, match="bytes"):
        operators()["reversible"].toarray(largest=1000)
    with pytest.raises(InvalidInputError, match="at least one"):
        MarkovOperator([], 1.0)
    with pytest.raises(InvalidInputError, match="agree in shape"):
        MarkovOperator([Component(POINTS, POINTS), Component(POINTS[:5], POINTS)], 1.0)
    with pytest.raises(InvalidInputError, match="sum to one"):
        MarkovOperator([Component(POINTS, POINTS, None, SHARE)], 1.0)
    with pytest.raises(InvalidInputError, match="self_loops"):
        MarkovOperator([Component(POINTS[:5], POINTS)], 1.0, self_loops=False)
    with pytest.raises(InvalidInputError, match="eigenpairs"):
        eigenpairs(operators()["reversible"], 400)
    lonely = MarkovOperator([Component(POINTS[:1], POINTS[:1])], 1.0, self_loops=False)
    with pytest.raises(NoMassError, match="row"):
        _ = lonely.log_degrees
    with pytest.raises(SpectrumError, match="ground"):
        eigenpairs(operators()["directed"], 3, tolerance=1e-2)


def test_features_are_checked_and_copied():
    points = np.random.default_rng(2).standard_normal((30, 2))
    operator = MarkovOperator.of_sample(points, Distance(), 2.0, self_loops=True)
    before = operator.toarray()
    points *= 3.0  # the caller's own array
    np.testing.assert_array_equal(operator.toarray(), before)
    for wrong in (np.full((30, 2), np.nan), points + 0j, np.full((30, 2), "a")):
        with pytest.raises(InvalidInputError, match="features must be an array of"):
            MarkovOperator.of_sample(wrong, Distance(), 2.0, self_loops=True)


def test_pickles_without_what_it_computed():
    operator = MarkovOperator.of_sample(POINTS, Distance(), 9.0, self_loops=False)
    _ = operator.log_degrees  # an array of its own, and kept
    stored = len(pickle.dumps(operator))
    forward, backward = operator @ WEIGHTS, operator.T @ WEIGHTS  # sorts the points
    assert operator.reversible
    written = pickle.dumps(operator)
    assert len(written) == stored
    copy = pickle.loads(written)
    np.testing.assert_array_equal(copy @ WEIGHTS, forward)
    np.testing.assert_array_equal(copy.T @ WEIGHTS, backward)
