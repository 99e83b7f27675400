"""Spectra of star graphs: the secular equation, P at N = ∞ and sampled operators, by hand."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import eigh

from convergence import limits
from convergence.claims import SpectrumProblem, SubspaceProblem, spectrum_claim
from convergence.errors import InvalidInputError
from convergence.limits import GraphChain, QuantumGraph
from convergence.spaces import StarGraph

TRIPOD, UNEQUAL = StarGraph((1.0, 1.0, 1.0)), StarGraph((1.0, 0.8, 0.55))


def finite_elements(lengths, h=0.005):
    """Lowest eigenvalues of linear elements with lumped masses, error of order h²."""
    counts = [round(length / h) for length in lengths]
    size = 1 + sum(counts)
    stiffness, mass, start = np.zeros((size, size)), np.zeros(size), 1
    for count in counts:
        nodes = [0, *range(start, start + count)]
        for i, j in pairwise(nodes):
            stiffness[[i, j], [i, j]] += 1 / h
            stiffness[[i, j], [j, i]] -= 1 / h
            mass[[i, j]] += h / 2
        start += count
    root = 1 / np.sqrt(mass)
    return eigh(root[:, None] * stiffness * root, eigvals_only=True, subset_by_index=(0, 7))


@pytest.mark.parametrize("lengths", [(1.0, 1.0, 1.0), (1.0, 0.8, 0.55), (0.5, 0.5, 1.0, 0.75)])
def test_the_secular_equation_by_finite_elements(lengths):
    expected = finite_elements(lengths)
    found = QuantumGraph(lengths).wave_numbers(8) ** 2
    np.testing.assert_allclose(found, expected, rtol=3e-4, atol=1e-9)


def test_the_tripod_and_its_multiplicities():
    graph = QuantumGraph((1.0, 1.0, 1.0))
    squares = (graph.wave_numbers(10) / np.pi) ** 2
    exact = [0, 0.25, 0.25, 1, 2.25, 2.25, 4, 6.25, 6.25, 9]
    np.testing.assert_allclose(squares, exact, atol=1e-12)
    assert graph.groups(7) == [[0], [1, 2], [3], [4, 5], [6]]
    assert graph.groups(5) == [[0], [1, 2], [3]]  # the second pair would be cut
    five = QuantumGraph((1.0,) * 5)
    assert [len(group) for group in five.groups(7)] == [1, 4, 1]


@pytest.mark.parametrize("lengths", [(1.7,), (0.9, 0.8)])
def test_one_and_two_edges_are_a_segment(lengths):
    found = QuantumGraph(lengths).wave_numbers(6)
    np.testing.assert_allclose(found, np.arange(6) * np.pi / 1.7, atol=1e-11)


def test_eigenspaces_obey_the_vertex_conditions():
    for lengths in ((1.0, 1.0, 1.0), (1.0, 0.8, 0.55), (0.5, 0.5, 1.0)):
        graph, edges = QuantumGraph(lengths), np.array(lengths)
        for group in graph.groups(6)[1:]:
            k = graph.wave_numbers(7)[group[0]]
            coefficients = graph.eigenspace(group)
            assert coefficients.shape == (3, len(group))
            ends = coefficients * np.cos(k * edges)[:, None]
            np.testing.assert_allclose(ends, ends[:1] + 0 * ends, atol=1e-10)
            np.testing.assert_allclose(np.sin(k * edges) @ coefficients, 0, atol=1e-10)


@pytest.mark.parametrize("apart", [1e-12, 1e-8, 5e-7])
def test_eigenvalues_grouped_together_have_one_eigenspace(apart):
    graph = QuantumGraph((1.0, 1.0, 1.0 + apart))
    for group in graph.groups(6):
        assert graph.eigenspace(group).shape == (3, len(group))


@pytest.mark.parametrize("space", [TRIPOD, UNEQUAL])
def test_the_chain_by_a_dense_rule(space):
    """P_β on 400 midpoints an edge: its eigenvalues to the order of that rule."""
    beta, points, weights = 60.0, [], []
    for k, end in enumerate(space.lengths):
        t = end * (np.arange(400) + 0.5) / 400
        points.append(space.points(k, t[:, None]))
        weights.append(np.full(400, end / 400))
    x, w = space.features(np.concatenate(points)), np.concatenate(weights)
    kernel = np.exp(-beta * np.sum((x[:, None] - x) ** 2, axis=-1))
    degree = kernel @ w
    root = np.sqrt(w / degree)
    values = np.sort(4 * beta * (1 - eigh(root[:, None] * kernel * root, eigvals_only=True)))
    found = GraphChain(space, beta).eigenpairs(7)[0]
    np.testing.assert_allclose(found, values[:7], rtol=1e-5, atol=1e-8)


def test_the_spectrum_is_reached_with_order_one_half():
    graph = QuantumGraph(UNEQUAL.lengths)
    limit = graph.wave_numbers(4)[1:] ** 2
    rests = [GraphChain(UNEQUAL, b).eigenpairs(4)[0][1:] - limit for b in (4e3, 1.6e4, 6.4e4)]
    assert np.all(np.abs(rests[2]) < 0.02 * limit)
    np.testing.assert_allclose(rests[1] / rests[2], 2, rtol=0.03)
    # a Dirichlet vertex lies far off
    clamped = np.sort(np.concatenate([(np.arange(3) + 0.5) * np.pi / e for e in UNEQUAL.lengths]))
    assert np.all(np.abs(clamped[1:4] ** 2 - limit) > 0.2 * limit)


def dense(space, points, beta):
    """P of a sample, its law, and its eigenpairs from the dense matrix."""
    x = space.features(points)
    kernel = np.exp(-beta * np.sum((x[:, None] - x) ** 2, axis=-1))
    degree = kernel.sum(axis=1)
    root = 1 / np.sqrt(degree)
    values, vectors = eigh(root[:, None] * kernel * root)
    return 4 * beta * (1 - values[::-1]), (root[:, None] * vectors)[:, ::-1], degree / degree.sum()


def test_what_is_measured_and_extrapolated():
    problem, beta = SpectrumProblem(TRIPOD, 6, hbar=0.7), 25.0
    points = TRIPOD.sample(300, np.random.default_rng(6))

    def groups(sample):
        values = 0.7 * dense(TRIPOD, sample, beta)[0]
        return np.array([(values[1] + values[2]) / 2, values[3], (values[4] + values[5]) / 2])

    np.testing.assert_allclose(problem.measured(points, beta)[0], groups(points), rtol=1e-6)
    halves = groups(points[:150]) + groups(points[150:])
    expected = 2 * groups(points) - halves / 2
    np.testing.assert_allclose(problem.estimate(points, beta)[0], expected, rtol=1e-6)
    assert problem.labels == (r"\lambda_{1,2}", r"\lambda_{3}", r"\lambda_{4,5}")


def test_subspaces_do_not_depend_on_a_basis():
    problem, beta = SubspaceProblem(TRIPOD, 4), 25.0
    points = TRIPOD.sample(300, np.random.default_rng(7))
    _, modes, law = dense(TRIPOD, points, beta)
    found = problem.measured(points, beta)
    pair, t, edge = modes[:, 1:3], points[:, 1], points[:, 0].astype(int)
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    # functions that vanish at the vertex with slopes of sum zero, in another basis
    slopes = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    exact = slopes[edge] * np.sin(np.pi * t / 2)[:, None]
    root = np.sqrt(law)[:, None]
    q, _ = np.linalg.qr(root * exact)
    r, _ = np.linalg.qr(root * pair @ turn)
    overlap = np.sum(np.linalg.svd(q.T @ r, compute_uv=False) ** 2) / 2
    assert found[0, 0] == pytest.approx(overlap, abs=1e-6)
    assert 0.8 < found[0, 0] < 1


def test_faults():
    claim = spectrum_claim("x", TRIPOD, 6, statement="", source="")
    faults = {fault.name: fault.expectation(1e5)[0] / np.pi**2 for fault in claim.faults}
    np.testing.assert_allclose(claim.limit[0] / np.pi**2, [0.25, 1, 2.25], rtol=1e-12)
    np.testing.assert_allclose(faults["Dirichlet vertex"], [0.25, 2.25, 2.25], rtol=0.01)
    np.testing.assert_allclose(faults["edges not joined"], [0, 1, 1], atol=0.02)
    np.testing.assert_allclose(faults["2ħβ for 4ħβ"], [0.125, 0.5, 1.125], rtol=0.01)


def test_refusals():
    with pytest.raises(InvalidInputError, match="direction"):
        StarGraph((1.0, 1.0), ((1, 0), (0, 0)))
    with pytest.raises(InvalidInputError, match="at least one edge"):
        QuantumGraph(())
    with pytest.raises(InvalidInputError, match="length"):
        limits.QuantumGraph((1.0, -1.0))


def test_hbar_scales_the_spectrum():
    one, other = (SpectrumProblem(StarGraph((1.0, 0.8, 0.55)), 4, hbar) for hbar in (1.0, 0.7))
    np.testing.assert_allclose(other.limit, 0.7 * one.limit, rtol=1e-14)
    np.testing.assert_allclose(other.expectation(200.0), 0.7 * one.expectation(200.0), rtol=1e-12)
