"""The builder: schedules, exponents and faults of every claim in the project's studies."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from convergence.claims import PRESETS, GeneratorProblem
from convergence.claims.schedules import GROWTH
from convergence.running import load_study, study_files
from convergence.scores import Distance
from convergence.spaces import TorusOfRevolution
from convergence.verification import study_level
from convergence.verification.statistics import location_power

CLAIMS = [
    pytest.param(claim, study_level(study.claims, "standard"), id=f"{name}/{claim.id}")
    for name, study in ((name, load_study(path)) for name, path in study_files().items())
    for claim in study.claims
    if hasattr(claim.estimate, "__self__")  # built by a builder of pointwise claims
]


@pytest.mark.parametrize(("claim", "level"), CLAIMS)
@pytest.mark.parametrize("preset", PRESETS)
def test_schedules(claim, level, preset):
    """β = c N^{2/(d+6)}, with independent targets and enough neighbours at every setting."""
    d = claim.space.dim
    assert claim.slope == -2 / (d + 6)
    schedule = claim.schedules[preset]
    for one, other in zip(schedule.joint, schedule.joint[1:], strict=False):
        assert other.n == GROWTH * one.n
        assert other.beta / one.beta == pytest.approx(GROWTH ** (2 / (d + 6)), rel=1e-5)
    separation = np.min(pdist(claim.space.features(claim.estimate.__self__.targets)))
    for setting in (*schedule.joint, *schedule.sampling):
        assert setting.beta * separation**2 >= 14 * (1 - 1e-5)
        assert np.min(claim.effective_degree(setting.n, setting.beta)) >= 200


@pytest.mark.parametrize(("claim", "level"), CLAIMS)
def test_every_fault_is_one_and_the_standard_preset_rejects_it(claim, level):
    """By theory alone: each wrong reference is rejected with all but certainty."""
    settings = claim.schedules["standard"].sampling
    for fault in claim.faults:
        powers = []
        for setting in settings:
            _, sd = claim.sampling_error(setting.n, setting.beta)
            wrong = fault.expectation(setting.beta) - claim.expectation(setting.beta)
            powers += [location_power(c, setting.replicates, level) for c in (wrong / sd).T]
        assert max(powers) > 1 - 1e-6, fault.name


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
