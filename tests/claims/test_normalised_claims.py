"""Claims on kernels whose weights come from the sample, and on bridges."""

import numpy as np
import pytest

from convergence import limits
from convergence.claims import GeneratorProblem, bridge_claim
from convergence.errors import NoReferenceError
from convergence.kernels import gaussian_sums_blocks
from convergence.scores import CoifmanLafon, Distance, Sinkhorn, TargetMeasure
from convergence.spaces import Ellipse, Ellipsoid, TanhTorus, TorusOfRevolution
from convergence.testing import assert_limit

CIRCLE = Ellipse(1, 1, "1.3*cos(u - 0.6)")
SPHERE = Ellipsoid(1, 1, 1, "1.1*cos(u)")
TORUS = TorusOfRevolution(2, 1, "cos(v)/2 + sin(v)/2")
F = {CIRCLE: "cos(2*u + 1.2)", SPHERE: "x0*x2 + x1", TORUS: "sin(u + v)"}
LAW = CIRCLE.function("sin(u)/2 + cos(2*u)/4")
CASES = [
    *((chart, CoifmanLafon(alpha)) for chart in F for alpha in (0.5, 1.0, -0.3)),
    *((chart, Sinkhorn()) for chart in F),
    (CIRCLE, Sinkhorn(LAW)),
    (SPHERE, Sinkhorn(SPHERE.function("3*cos(u)**2/5 - cos(u)/3"))),
    (TORUS, Sinkhorn(TORUS.function("cos(v)/3 - sin(2*v)/4"))),
    (CIRCLE, TargetMeasure(LAW)),
]


@pytest.mark.parametrize(("chart", "normalisation"), CASES, ids=str)
def test_expectations_on_charts_tend_to_the_limit(chart, normalisation):
    """Order 1/β, and no other constant left."""
    f, score = chart.function(F[chart]), Distance(normalisation=normalisation)
    x = chart.targets([f], 2)
    exact = limits.generator(chart, score, f, x, 0.7)
    values = [limits.expectation(chart, score, f, x, beta, 0.7) for beta in (256.0, 512.0, 1024.0)]
    once = [2 * values[1] - values[0], 2 * values[2] - values[1]]
    scale = np.max(np.abs(exact))
    np.testing.assert_allclose((4 * once[1] - once[0]) / 3, exact, atol=3e-6 * scale)
    walk = limits.generator(chart, Distance(), f, x, 0.7)
    assert np.max(np.abs(walk - exact)) > 0.02 * scale


def test_a_circle_as_a_chart_has_the_closed_form_of_q():
    """α = 1 by a sum over a fine sample grid of the circle: both weights are plain integrals."""
    score, beta = Distance(normalisation=CoifmanLafon(1.0)), 40.0
    f = CIRCLE.function(F[CIRCLE])
    x = CIRCLE.targets([f], 2)
    u = 2 * np.pi * np.arange(4000)[:, None] / 4000
    features, density = CIRCLE.features(u), np.exp(1.3 * np.cos(u[:, 0] - 0.6))
    log_q, _ = gaussian_sums_blocks(features, features, beta, np.log(density))
    _, means = gaussian_sums_blocks(
        CIRCLE.features(x), features, beta, np.log(density) - log_q, f(u), f(x)
    )
    expected = -4 * beta * means[:, 0]
    np.testing.assert_allclose(limits.expectation(CIRCLE, score, f, x, beta), expected, rtol=1e-9)


def test_no_profile_no_reference():
    learned = TanhTorus()
    f = learned.function("sin(u)")
    for score in (Distance(normalisation=CoifmanLafon(1.0)), Distance(normalisation=Sinkhorn())):
        with pytest.raises(NoReferenceError, match="surface of revolution"):
            limits.expectation(learned, score, f, np.array([[0.3, 0.4]]), 10.0)
    tilted = TorusOfRevolution(2, 1, "cos(u)")  # the density turns with the angle
    with pytest.raises(NoReferenceError, match="surface of revolution"):
        limits.profile_of(tilted)


def test_the_estimate_weighs_the_sample_by_itself():
    """q_j = Σ_{k≠j} K_jk, without the point itself."""
    score, beta = Distance(normalisation=CoifmanLafon(0.5)), 8.0
    problem = GeneratorProblem(CIRCLE, score, (CIRCLE.function(F[CIRCLE]),), 0.7)
    points = CIRCLE.sample(500, np.random.default_rng(0))
    y, x = CIRCLE.features(points), CIRCLE.features(problem.targets)
    kernel = np.exp(-beta * np.sum((y[:, None] - y) ** 2, axis=-1))
    q = kernel.sum(axis=1) - 1
    rows = np.exp(-beta * np.sum((x[:, None] - y) ** 2, axis=-1)) * q**-0.5
    f = problem.functions[0]
    expected = 4 * 0.7 * beta * (f(problem.targets) - rows @ f(points) / rows.sum(axis=1))
    for sample in (points, iter(np.split(points, 4))):
        np.testing.assert_allclose(problem.estimate(sample, beta)[:, 0], expected, rtol=1e-10)


def test_assert_limit_refuses_what_has_no_sampling_law():
    score = Distance(normalisation=CoifmanLafon(1.0))
    with pytest.raises(NoReferenceError, match="replicates"):
        assert_limit(
            lambda *a: np.zeros(4), CIRCLE, score, [CIRCLE.function("sin(u)")], n=9, beta=1.0
        )


@pytest.mark.parametrize("n", [60, 200])
def test_bridges(n):
    claim = bridge_claim(
        "b", CIRCLE, LAW, CIRCLE.function("cos(u)/2"), statement="", source="", refutes="currents"
    )
    residual = claim.estimate(CIRCLE.sample(n, np.random.default_rng(n)), 30.0)
    rights = len(claim.functions) - len(claim.wrong)
    assert np.max(residual[0, :rights]) <= claim.tolerance
    assert np.min(residual[0, rights:]) > 0.1
    assert len(claim.wrong) >= 4
