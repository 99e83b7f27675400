"""The builder: schedules, exponents and faults of every claim in the project's studies."""

import numpy as np
import pytest

from convergence.claims import (
    PRESETS,
    CausalProblem,
    GeneratorProblem,
    MagneticProblem,
    SectorProblem,
)
from convergence.claims.critical import CriticalProblem
from convergence.running import load_study, study_files
from convergence.scores import Distance, PerPointMetric, harmonic_link
from convergence.spaces import Circle, TorusOfRevolution
from convergence.verification import study_level
from convergence.verification.statistics import location_power, replicate_location_power

CLAIMS = [
    pytest.param(claim, study_level(study.claims, "standard"), id=f"{name}/{claim.id}")
    for name, study in ((name, load_study(path)) for name, path in study_files().items())
    for claim in study.claims
    # built by a builder of pointwise claims
    if hasattr(getattr(claim.estimate, "__self__", None), "sampling_error")
    and not isinstance(claim.estimate.__self__, CriticalProblem)
]


@pytest.mark.parametrize(("claim", "level"), CLAIMS)
@pytest.mark.parametrize("preset", PRESETS)
def test_schedules(claim, level, preset):
    """β = c N^rate, with independent targets and enough neighbours at every setting."""
    d, problem = claim.space.dim, claim.estimate.__self__
    on_strata = not hasattr(problem, "separation")  # each target has a share of the sample
    if on_strata:
        rate = -claim.slope / claim.bias_order if claim.bias_order else 0.0
        assert claim.bias_order or claim.slope == -0.5  # β stays where it is
    elif isinstance(problem, CausalProblem):
        rate = 2 / 3
    else:
        generator = isinstance(problem, GeneratorProblem | MagneticProblem | SectorProblem)
        rate = 2 / (d + 6) if generator else 2 / (d + 4)
    if not isinstance(problem, SectorProblem) and not on_strata:
        # each column of a SectorProblem has a slope of its own
        assert claim.slope == -rate * claim.bias_order
    schedule = claim.schedules[preset]
    for one, other in zip(schedule.joint, schedule.joint[1:], strict=False):
        assert other.n > 1.4 * one.n
        assert other.beta / one.beta == pytest.approx((other.n / one.n) ** rate, rel=1e-5)
    separation = np.inf if on_strata else problem.separation
    for setting in (*schedule.joint, *schedule.sampling):
        assert setting.beta * separation**2 >= 14 * (1 - 1e-5)
        assert np.min(claim.effective_degree(setting.n, setting.beta)) >= 200


@pytest.mark.parametrize(("claim", "level"), CLAIMS)
def test_every_fault_is_one_and_the_standard_preset_rejects_it(claim, level):
    """By theory alone: each wrong reference is rejected with all but certainty.

    Where weights are estimated from the sample, the errors for known weights are taken: larger
    than the true ones, by 1.35 and more for α = ½, 1 and Sinkhorn.
    """
    known = claim.sampling_error is not None
    power = location_power if known else replicate_location_power
    for fault in claim.faults:
        powers = []
        for setting in claim.schedules["standard"].sampling:
            _, sd = claim.estimate.__self__.sampling_error(setting.n, setting.beta)
            sd = sd if known else sd / 1.35
            wrong = fault.expectation(setting.beta) - claim.expectation(setting.beta)
            powers += [power(c, setting.replicates, level) for c in (wrong / sd).T]
        assert max(powers) > (1 - 1e-6 if known else 0.99), fault.name


@pytest.mark.parametrize("symmetrised", [False, True])
def test_faults_of_a_per_point_metric(symmetrised):
    """By hand on the circle: G⁻¹ f'' and the drift of q, or of q/sqrt(G), at large β."""
    ring, beta = Circle(0.9, 0.4), 1e6
    score = PerPointMetric(metric=(("3/2 + 3/5*sin(u0)",),), symmetrised=symmetrised)
    problem = GeneratorProblem(ring, score, (ring.fourier(2, 1.2),), hbar=0.7)
    faults = {fault.name: fault.expectation(beta)[:, 0] for fault in problem.faults({})}
    u = ring.angle(problem.targets)
    g, slope = 1.5 + 0.6 * np.sin(u), 0.6 * np.cos(u)
    first, second = -2 * np.sin(2 * u + 1.2), -4 * np.cos(2 * u + 1.2)
    log_q = -0.9 * np.sin(u - 0.4)

    def ito(density_slope):
        return -0.7 * (second + 2 * density_slope * first) / g

    # Δ_G f = G^{-1/2} (G^{-1/2} f')' = f''/G - G' f'/(2G²)
    bend = 0.7 * slope * first / (2 * g**2)
    expected = {
        False: {
            "Laplace-Beltrami for Itô": ito(log_q - slope / (2 * g)) + bend,
            "q/√det G for q": ito(log_q - slope / (2 * g)),
            "G = I": ito(log_q) * g,
        },
        True: {
            "Itô for Laplace-Beltrami": ito(log_q),
            "det G omitted from ρ": ito(log_q) + bend,
            "drift without its 2": -0.7 * (second + (log_q - slope / (2 * g)) * first) / g + bend,
        },
    }[symmetrised]
    for name, value in expected.items():
        np.testing.assert_allclose(faults[name], value, atol=1e-4)
    arc = np.abs(np.angle(np.exp(1j * (u[:, None] - u))))
    squares = arc**2 * ((g[:, None] + g) / 2 if symmetrised else g[:, None])
    assert problem.separation == pytest.approx(np.sqrt(np.min(squares[arc > 0])), rel=1e-12)


def test_faults_of_a_link():
    """By hand on the circle at large β: -ħ(f'' + 2 (a·t + factor·c) f') with t the tangent."""
    circle, hbar, c, beta = Circle(), 0.7, 0.8, 1e6
    score = Distance((0.3, -0.4), link=harmonic_link([c]))
    problem = GeneratorProblem(circle, score, (circle.fourier(2, 1.2),), hbar)
    faults = {fault.name: fault.expectation(beta)[:, 0] for fault in problem.faults({})}
    u = circle.angle(problem.targets)
    slope = -0.3 * np.sin(u) - 0.4 * np.cos(u)

    def limit(doob, link):
        drift = doob * slope + link * c
        return -hbar * (-4 * np.cos(2 * u + 1.2) - 4 * drift * np.sin(2 * u + 1.2))

    expected = {
        "link omitted": limit(1, 0),
        "link reversed": limit(1, -1),
        "link halved": limit(1, 0.5),
        "queries moved by Mᵀx/β for Mᵀx/2β": limit(1, 2),
        "Doob weight omitted": limit(0, 1),
        "Doob weight squared": limit(2, 1),
        "drift omitted": limit(0, 0),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(faults[name], value, atol=1e-4)
    np.testing.assert_allclose(problem.limit[:, 0], limit(1, 1), atol=1e-12)


def test_on_a_chart_the_kernel_acts_on_features_and_functions_on_coordinates():
    torus, a, beta = TorusOfRevolution(log_density="cos(u)"), (0.3, -0.2, 0.5), 6.0
    f = torus.function("sin(u + v)")
    problem = GeneratorProblem(torus, Distance(a), (f,), 0.7, 3)
    points = torus.sample(2000, np.random.default_rng(0))
    x, y = torus.features(problem.targets), torus.features(points)
    weights = np.exp(-beta * np.sum((x[:, None] - y) ** 2, axis=-1) + y @ np.array(a))
    expected = f(problem.targets) - weights @ f(points) / weights.sum(axis=1)
    for sample in (points, iter(np.split(points, 4))):
        found = problem.estimate(sample, beta)
        np.testing.assert_allclose(found[:, 0], 4 * 0.7 * beta * expected, rtol=1e-10)
