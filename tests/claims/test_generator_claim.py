"""The builder: schedules, exponents and faults of every claim in the project's studies."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from convergence.claims import PRESETS
from convergence.claims.schedules import GROWTH
from convergence.running import load_study, study_files
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
