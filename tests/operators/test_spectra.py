"""Multiplicities, symmetric solvers and classes that do not communicate."""

import numpy as np
import pytest

from convergence.errors import DisconnectedError, NoMassError
from convergence.kernels.blocks import squared_distance_score
from convergence.operators import (
    Component,
    MagneticOperator,
    MarkovOperator,
    ScoreOperator,
    bilinear_phase,
    communicating_classes,
    communication,
    eigenpairs,
    elimination_law,
    log_matrix,
    stationary,
    stationary_by_class,
)
from convergence.scores import Distance, Jump, Mixture
from convergence.spaces import Circle, Sphere


def ring(n):
    return Circle().at(2 * np.pi * np.arange(n) / n)


def circulant_values(n, beta, k):
    """Lowest k eigenvalues of a ring's generator, without cancellation."""
    angles = 2 * np.pi * np.arange(n) / n
    row = np.exp(-4 * beta * np.sin(angles / 2) ** 2)
    modes = np.minimum(np.arange(n), n - np.arange(n))
    sines = np.sin(np.outer(np.arange(k + 1), angles) / 2) ** 2
    exact = 8 * beta * (sines @ row) / np.sum(row)
    return np.sort(exact[modes[modes <= k]])[:k]


@pytest.mark.parametrize(
    ("n", "k"), [(50, 3), (77, 4), (128, 7), (333, 3), (501, 5), (1000, 3), (1000, 2), (3000, 3)]
)
def test_rings_have_every_eigenvalue_twice(n, k):
    points = ring(n)
    exact = circulant_values(n, n, k)
    operator = MarkovOperator.of_sample(points, Distance(), n, self_loops=True)
    np.testing.assert_allclose(eigenpairs(operator, k).values, exact, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_seeds_do_not_matter(seed):
    operator = MarkovOperator.of_sample(ring(1000), Distance(), 1000.0, self_loops=True)
    found = eigenpairs(operator, 3, seed=seed)
    np.testing.assert_allclose(found.values, [0, 1.00012506, 1.00012506], atol=5e-9)
    x, y = ring(1000).T
    inside = found.vectors[:, 1:] / np.sqrt(1000)
    for mode in (x, y):
        mode = mode / np.linalg.norm(mode)
        assert np.linalg.norm(inside.T @ mode) == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("n", [60, 150, 301, 1000])
def test_directed_rings(n):
    """A mixture of a step ahead and a step back has no symmetric form; its eigenvalues double."""
    beta, angle = float(n), 0.1
    angles = 2 * np.pi * np.arange(n) / n
    ahead, back = (Circle().at(angles + s * angle) for s in (1, -1))
    half = np.full(n, 0.5)
    operator = MarkovOperator(
        [Component(q, ring(n), None, half) for q in (ahead, back)], beta, self_loops=True
    )
    matrix_row = np.exp(log_matrix(operator))[0]
    exact = np.sort(4 * beta * (1 - np.fft.fft(matrix_row).real))[:3]
    found = eigenpairs(operator, 3)
    np.testing.assert_allclose(found.values.real, exact, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.values.imag, 0, atol=1e-8)
    assert np.linalg.matrix_rank(found.vectors, tol=1e-3) == 3


def test_symmetric_scores_take_the_symmetric_solver():
    points = ring(300)
    plain = ScoreOperator(squared_distance_score, points, points, 200.0)
    factored = ScoreOperator(
        lambda x, y, beta: squared_distance_score(x, y, beta) + 5 * x[:, :1] ** 3 + y[:, 1],
        points, points, 200.0,
    )  # fmt: skip
    directed = ScoreOperator(
        lambda x, y, beta: -beta * x @ y.T + x[:, :1] * y[:, 1], points, points, 2
    )
    assert plain.reversible
    assert factored.reversible
    assert not directed.reversible
    found = eigenpairs(plain, 5)
    np.testing.assert_allclose(found.values, circulant_values(300, 200.0, 5), atol=1e-9)
    found = eigenpairs(factored, 5)
    dense = np.sort(800 * (1 - np.linalg.eigvals(factored.toarray()).real))[:5]
    assert np.isrealobj(found.values)
    np.testing.assert_allclose(found.values, dense, atol=1e-9)
    law = stationary(factored)
    assert law.method == "closed form"
    np.testing.assert_allclose(law.law, elimination_law(factored.toarray()), rtol=1e-11)


def test_symmetric_links_take_the_symmetric_solver():
    rng = np.random.default_rng(0)
    points, mix = rng.normal(size=(300, 3)), rng.normal(size=(3, 3))
    for turn, solver in (
        (mix + mix.T, "Lanczos"),
        (mix + mix.T + 1e-9 * np.triu(mix, 1), "Arnoldi"),
    ):
        queries = points @ (np.eye(3) + 0.1 * turn) + 0.2
        operator = MarkovOperator([Component(queries, points, rng.normal(size=300))], 2.0)
        found = eigenpairs(operator, 4)
        assert found.solver == f"block {solver}"
        dense = np.sort(8 * (1 - np.linalg.eigvals(operator.toarray()).real))[:4]
        np.testing.assert_allclose(found.values.real, dense, atol=1e-11)


def test_a_magnetic_ring_without_a_field():
    """Doubles come back twice in the Hermitian form too."""
    operator = MarkovOperator.of_sample(ring(400), Distance(), 400.0, self_loops=True)
    magnetic = MagneticOperator(operator, bilinear_phase(np.zeros((2, 2))))
    exact = circulant_values(400, 400.0, 5)
    np.testing.assert_allclose(magnetic.eigenvalues(5), exact, rtol=1e-8, atol=1e-9)


def clusters(gap=100.0):
    points = np.random.default_rng(0).normal(size=(40, 2)) * 0.3
    points[20:, 0] += gap
    return points


TURN = ((0.0, 0.9), (-0.9, 0.0))


@pytest.mark.parametrize("link", [TURN, ((0.3, 0.5), (-0.1, 0.2)), None])
def test_two_clusters_are_refused_with_their_rows(link):
    score = Distance() if link is None else Distance(link=link)
    operator = MarkovOperator.of_sample(clusters(), score, 3.0, self_loops=True)
    for largest in (0, 1 << 25):
        with pytest.raises(DisconnectedError, match=r"\[20, 20\].*rows \[20-39\]"):
            stationary(operator, largest_dense=largest)
    with pytest.raises(DisconnectedError, match="components"):
        eigenpairs(operator, 3)
    for rows, found in stationary_by_class(operator):
        law = np.zeros(40)
        law[rows] = found.law
        np.testing.assert_allclose(operator.T @ law, law, atol=1e-12)


def test_rare_steps_give_one_law_with_any_solver():
    """Too rare for sums, positive in float64: elimination, whatever size may be dense."""
    operator = MarkovOperator.of_sample(clusters(8.0), Distance(link=TURN), 5.0, self_loops=True)
    exact = elimination_law(np.exp(log_matrix(operator)))
    for largest in (0, 1 << 25):
        found = stationary(operator, largest_dense=largest)
        np.testing.assert_allclose(found.law, exact, rtol=1e-12)
    three = MarkovOperator([Component(ring(3) + 0.1, ring(3))], 1.0)
    one, other = stationary(three, largest_dense=0), stationary(three)
    np.testing.assert_array_equal(one.law, other.law)


def test_classes_of_a_causal_walk():
    """Nobody steps ahead, so every point is a class; the law is all on the first."""
    places = np.linspace(0, 1, 6)[:, None]
    causal = ScoreOperator(
        lambda x, y, beta: np.where(x < y.T, -np.inf, -beta * (x - y.T) ** 2), places, places, 1.0
    )
    np.testing.assert_array_equal(communicating_classes(causal), np.arange(6))
    with pytest.raises(DisconnectedError, match="6 components"):
        stationary(causal)
    [(rows, found)] = stationary_by_class(causal)
    assert rows.tolist() == [0]
    assert found.law.tolist() == [1.0]


@pytest.mark.parametrize("seed", range(12))
def test_searches_find_the_classes_of_the_dense_graph(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(130, 700)), int(rng.integers(1, 4))
    points = rng.normal(size=(n, d)) * rng.choice([1.0, 3.0, 30.0])
    beta, share = float(rng.choice([0.1, 1.0, 10.0])), rng.random(n)
    queries, weights = points + 0.3 * rng.normal(size=(n, d)), 5 * rng.normal(size=n)
    weights[3] = -np.inf
    mixture = [
        Component(queries, points, weights, share),
        Component(-points, points, None, 1 - share),
    ]
    operators = [
        MarkovOperator([Component(queries, points, weights)], beta),
        MarkovOperator(mixture, beta),
        ScoreOperator(squared_distance_score, queries, points, beta, weights),
        ScoreOperator(squared_distance_score, points, points, beta, weights),
    ]
    dense = [communicating_classes(o) for o in operators]
    monkeypatch.setattr(communication, "_DENSE", 0)
    for operator, labels in zip(operators, dense, strict=True):
        np.testing.assert_array_equal(communicating_classes(operator), labels)


def test_points_without_stationary_mass_are_named():
    points = Sphere(2).sample(60, np.random.default_rng(4))
    weights = np.zeros(60)
    weights[7] = -np.inf
    weighted = MarkovOperator([Component(points, points, weights)], 3.0)
    moved = MarkovOperator([Component(points + 0.1 * points[::-1], points, weights)], 3.0)
    far = points.copy()
    far[7] = [12.0, 12.0, 12.0]
    lonely = MarkovOperator.of_sample(far, Distance(), 2.0, self_loops=False)
    for operator in (weighted, moved, lonely):
        for call in (lambda o=operator: stationary(o), lambda o=operator: eigenpairs(o, 3)):
            with pytest.raises((DisconnectedError, NoMassError), match=r"rows (\[7\]|7\b)"):
                call()


@pytest.mark.parametrize("gap", [2.5, 3.0, 3.4])
@pytest.mark.parametrize("parts", [2, 3])
def test_a_law_that_rounding_would_move_is_eliminated(gap, parts):
    """Steps that sums see, but so rare that a residual of 1e-15 leaves the law free."""
    points = np.random.default_rng(1).normal(size=(60, 2)) * 0.3
    for part in range(1, parts):
        points[60 * part // parts :, 0] += gap
    operator = MarkovOperator.of_sample(points, Distance(link=TURN), 5.0, self_loops=True)
    exact = elimination_law(np.exp(log_matrix(operator)))
    for largest in (0, 1 << 25):
        found = stationary(operator, largest_dense=largest)
        np.testing.assert_allclose(found.law, exact, rtol=1e-6)


@pytest.mark.parametrize("rate", [1.0, "1 + x0/2"])
def test_symmetric_jumps_go_to_the_symmetric_solver(rate):
    """A bond to the antipode both ways, at a rate that T leaves alone or does not."""
    circle = Circle(0.7)
    rate = circle.polynomial(rate) if isinstance(rate, str) else rate
    antipode = ((-1.0, 0.0), (0.0, -1.0))
    points = circle.sample(300, np.random.default_rng(5))
    walk = MarkovOperator.of_sample(
        points, Mixture(circle, Distance(), (Jump(rate, antipode),)), 8.0, self_loops=False
    )
    found = eigenpairs(walk, 6)
    dense = walk.toarray()
    right = np.sort(np.real(np.linalg.eigvals(dense)))[::-1][:6]
    np.testing.assert_allclose(1 - np.real(found.values) / 32, right, atol=1e-10)
    law = stationary(walk).law
    coupling = law[:, None] * dense
    if isinstance(rate, float):
        assert found.solver == "block Lanczos"
        assert np.isrealobj(found.values)
        np.testing.assert_allclose(coupling, coupling.T, atol=1e-13)
    else:
        assert found.solver == "block Arnoldi"
        assert np.max(np.abs(coupling - coupling.T)) > 1e-6
