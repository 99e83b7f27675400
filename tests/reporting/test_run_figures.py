"""Figures of a run's measurements, read back from their Axes."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import integrate, special

from convergence.reporting.jumps import critical_picture, transition_kernel, varadhan_figure
from convergence.reporting.star_graph import spectrum_converging
from convergence.scores import Distance, Jump, Mixture
from convergence.spaces import (
    Circle,
)
from convergence.verification import Batch, Setting


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def stub(**claims):
    """A run of claims with given batches, (setting, values) by check."""
    study = SimpleNamespace(claim=claims.__getitem__, claims=list(claims.values()))
    return SimpleNamespace(study=study, batches=lambda claim: claim.data)


def batch(n, beta, values):
    return Batch(Setting(n, beta, len(values)), values)


def test_eigenvalues_over_their_limits(axes):
    rng, limit = np.random.default_rng(4), np.array([[2.0, 5.0]])
    data = [batch(n, b, 3 + rng.standard_normal((9, 1, 2))) for n, b in ((800, 8.0), (1800, 14.0))]
    claim = SimpleNamespace(data={"joint": data}, limit=limit, functions=("a", "b"))
    problem = SimpleNamespace(
        expectation=lambda beta: limit * (1 - np.array([[1.0, 2.0]]) / beta),
        space=SimpleNamespace(sample=lambda n, rng: n),
        measured=lambda n, beta: np.array([[n * 1e-3, beta]]),
    )
    (ax,) = spectrum_converging(stub(star=claim), {"star": problem}, (3_000, 9_000)).axes
    for i, drawn in enumerate(axes.bars(ax)):
        np.testing.assert_allclose(drawn[:, 0], [8.0, 14.0])
        for line, one in zip(drawn, data, strict=True):
            expected = axes.with_intervals(one.values[:, 0, i] / limit[0, i])
            np.testing.assert_allclose(line[1:], expected, rtol=1e-9)
    lines = axes.free_lines(ax)
    for i, (curve, single) in enumerate((lines[:2], lines[2:4])):
        betas, y = curve.get_data()
        np.testing.assert_allclose(y, 1 - (i + 1) / betas, rtol=1e-12)
        betas, y = single.get_data()
        np.testing.assert_allclose(y, [3, 9] / limit[0, i] if i == 0 else betas / limit[0, i])
    np.testing.assert_array_equal(lines[4].get_ydata(), [1, 1])


def test_varadhans_distance(axes):
    """Heat kernels and walks by their Fourier series, k from -40 to 40."""
    rng, beta, angle = np.random.default_rng(8), 10.0, np.pi
    values = 9 + rng.standard_normal((7, 1, 2))
    claim = SimpleNamespace(
        data={"sampling": [batch(500, beta, values)]}, functions=("t=0.2", r"\hbar t=0.4")
    )
    (ax,) = varadhan_figure(stub(local=claim), {"local": Distance()}, angle).axes
    ((*drawn,),) = axes.bars(ax)
    np.testing.assert_allclose(
        drawn, np.column_stack([[0.2, 0.4], axes.with_intervals(values[:, 0])]), rtol=1e-12
    )
    limit, steps, square = axes.free_lines(ax)
    k = np.arange(-40, 41)[:, None]

    def varadhan(t, factors):
        density = np.real(np.exp(1j * angle * k) * factors).sum(axis=0) / (2 * np.pi)
        return -4 * t * np.log(density * np.sqrt(4 * np.pi * t))

    t, y = limit.get_data()
    np.testing.assert_allclose(y, varadhan(t, np.exp(-(k**2) * t)), rtol=1e-6)
    t, y = steps.get_data()
    powers = (special.ive(np.abs(k), 2 * beta) / special.ive(0, 2 * beta)) ** (4 * beta * t)
    np.testing.assert_allclose(y, varadhan(t, powers), rtol=1e-6)
    np.testing.assert_allclose(square.get_ydata(), angle**2)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_critical_picture(axes, sign):
    """Values times β^{1-γ}, with intervals, positive whatever the sign of the limit."""
    rng = np.random.default_rng(9)
    data = [batch(100, b, sign * (4 + rng.standard_normal((8, 2, 2)))) for b in (6.0, 24.0, 96.0)]
    claim = SimpleNamespace(
        data={"joint": data},
        limit=sign * np.ones((2, 2)),
        expectation=lambda beta: sign * (3 + 1 / beta) * np.array([[1.0, 7.0], [7.0, 7.0]]),
    )
    (ax,) = critical_picture(stub(half=claim), {"half": 0.5}).axes
    ((*drawn,),) = axes.bars(ax)
    for (beta, *line), one in zip(drawn, data, strict=True):
        assert beta == one.setting.beta
        expected = axes.with_intervals(sign * np.sqrt(beta) * one.values[:, 0, 0])
        np.testing.assert_allclose(line, expected, rtol=1e-12)
    (curve,) = axes.free_lines(ax)
    beta, y = curve.get_data()
    np.testing.assert_allclose(y, np.sqrt(beta) * (3 + 1 / beta), rtol=1e-12)


def test_a_row_of_the_kernel(axes, handmade):
    """Local peak and jump to the antipode with w = λ/(4β), in bins and as a density."""
    rate, beta, n = 1.5, 20.0, 4_000
    circle = Circle()
    score = Mixture(circle, Distance(), (Jump(rate, ((-1, 0), (0, -1))),))
    top, bottom = transition_kernel(handmade.run(), circle, score, (beta,), n).axes

    def kernel(theta):
        near, far = np.cos(theta), np.cos(theta - np.pi)
        local, jump = (np.exp(-2 * beta * (1 - c)) for c in (near, far))
        return local + rate / (4 * beta) * jump

    (curve,) = top.lines
    theta, y = curve.get_data()
    mass = integrate.quad(kernel, -np.pi / 2, 3 * np.pi / 2, points=[0, np.pi], epsabs=1e-13)[0]
    np.testing.assert_allclose(y, kernel(theta) / mass, rtol=1e-6)
    share = rate / (4 * beta) / (1 + rate / (4 * beta))
    assert curve.get_label() == rf"$\beta = {beta:g}$: $4\beta p = {4 * beta * share:.3f}$"
    points = circle.sample(n, np.random.default_rng(0))
    turn = np.arctan2(points[:, 1], points[:, 0])
    turn[turn < -np.pi / 2] += 2 * np.pi
    edges = np.linspace(-np.pi / 2, 3 * np.pi / 2, 91)
    weights = kernel(turn) / kernel(turn).sum()
    expected = np.histogram(turn, edges, weights=weights)[0] / (2 * np.pi / 90)
    (steps,) = top.patches
    np.testing.assert_allclose(steps.get_data().values, expected, rtol=1e-9)
    assert len(axes.bars(bottom)) == 1  # of the claim whose errors are predicted
