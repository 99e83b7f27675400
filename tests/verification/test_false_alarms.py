"""The decision rule keeps its false-alarm rate, and sees what it says it sees."""

import numpy as np
import pytest
from scipy import stats

from convergence import limits
from convergence.operators import generator
from convergence.scores import Distance
from convergence.spaces import Circle
from convergence.verification import Outcome, overall, study_level, verify
from convergence.verification.factor import FACTOR
from convergence.verification.statistics import (
    curve_test,
    location_power,
    location_test,
    log_log_slope,
    replicate_location_power,
    replicate_location_test,
    scale_test,
)

REPEATS = 2000


def assert_rate_at_most(count, repeats, rate):
    """The chance that this assertion fails though the rate holds is under 1e-6."""
    assert stats.binom.sf(count - 1, repeats, rate) > 1e-6, f"{count} of {repeats} at {rate}"


def test_a_true_claim_fails_no_more_often_than_stated(synthetic):
    """2000 studies of one true claim, at a family-wise rate of 5 % so that failures are seen."""
    claim = synthetic.claim()
    schedule = claim.schedules["standard"]
    level = study_level([claim], "standard", 0.05)
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(REPEATS):
        verdicts = verify(claim, schedule, synthetic.draw(rng, schedule), level)
        failed += overall(verdicts) == Outcome.FAIL
    assert_rate_at_most(failed, REPEATS, 0.05)
    assert failed > 0.01 * REPEATS  # and the rule is not blunt: Bonferroni loses little


@pytest.mark.parametrize("replicates", [False, True])
def test_what_it_says_it_sees_it_sees(synthetic, replicates):
    """An operator wrong by what a factor says that it sees is rejected by it in 99 %.

    By the predicted standard deviation, or by replicates; their spread, and so what they say, has
    an error of its own, so the size is the mean over the runs.
    """
    changes = {"sampling_error": None} if replicates else {}
    claim = synthetic.claim(checks=("sampling",), **changes)
    schedule = claim.schedules["standard"]
    level = study_level([claim], "standard")
    rng = np.random.default_rng(1)

    def factors(size):
        batches = synthetic.draw(rng, schedule, factor=1 + size, shifted=not replicates)
        verdicts = verify(claim, schedule, batches, level)
        return [v for v in verdicts if v.quantity == FACTOR]

    said = [[v.sees for v in factors(0.0)] for _ in range(200 if replicates else 1)]
    for j, size in enumerate(np.sqrt(np.mean(np.square(said), axis=0))):
        assert 0.001 < size < 0.1
        missed = sum(factors(size)[j].outcome != Outcome.FAIL for _ in range(500))
        assert_rate_at_most(missed, 500, 0.01)


@pytest.mark.parametrize("spread", [0.75, 1.3])
def test_a_wrong_variance_fails(synthetic, spread):
    claim = synthetic.claim(checks=("sampling",))
    schedule = claim.schedules["standard"]
    batches = synthetic.draw(np.random.default_rng(2), schedule, spread=spread)
    failed = [v for v in verify(claim, schedule, batches, 1e-4) if v.outcome == Outcome.FAIL]
    assert {v.quantity.split(",")[0] for v in failed} == {"variance"}


@pytest.mark.parametrize("test", ["location", "scale", "curve", "replicates", "slope"])
def test_p_values_are_uniform(test):
    """Each test rejects true errors at its level: 1 % of 2000, within binomial bounds."""
    rng = np.random.default_rng(3)
    offsets = np.array([0.3, -2.0, 1.0, 0.0])
    sizes = np.array([1e4, 4e4, 16e4])
    p_values = []
    for _ in range(REPEATS):
        errors = rng.standard_normal((12, 4))
        if test == "location":
            p_values.append(location_test(errors)[1])
        elif test == "scale":
            p_values.append(scale_test(errors + offsets, 0.05)[1])
        elif test == "curve":
            p_values.append(curve_test(errors + offsets, offsets)[1])
        elif test == "replicates":
            p_values.append(replicate_location_test(3 * errors)[1])
        else:
            deviations = [n**-0.25 * (rng.standard_normal((12, 4)) + offsets) for n in sizes]
            slope, error, freedom = log_log_slope(sizes, deviations, rng, 200)
            p_values.append(2 * stats.t.sf(abs(slope + 0.25) / error, freedom))
    for level in (0.1, 0.01):
        count = int(np.sum(np.array(p_values) < level))
        tolerance = 1.17 if test == "slope" else 1.0  # the bootstrap is calibrated, not exact
        assert_rate_at_most(count, REPEATS, tolerance * level)


def test_power_is_that_of_the_test():
    rng = np.random.default_rng(4)
    separations, level = np.array([0.5, -0.3, 0.8, 0.1]), 1e-3
    rejected = sum(
        location_test(rng.standard_normal((20, 4)) + separations)[1] < level for _ in range(REPEATS)
    )
    expected = location_power(separations, 20, level)
    assert 0.1 < expected < 0.99
    assert abs(rejected / REPEATS - expected) < 5 * np.sqrt(expected * (1 - expected) / REPEATS)
    assert location_power(np.zeros(4), 20, level) == pytest.approx(level, rel=1e-9)


def test_real_samples_obey_the_law():
    """2000 true samples on the circle: p-values at the targets reject at their level."""
    circle, n, beta = Circle(kappa=1.3), 4000, 40.0
    f = circle.fourier(2, 0.4)
    x = circle.targets([f], 3)
    expected = limits.expectation(circle, Distance(), f, x, beta)
    shift, variance = limits.sampling_constants(circle, Distance(), f, x, beta)
    rng = np.random.default_rng(5)
    errors = np.empty((REPEATS, 3))
    for row in errors:
        points = circle.sample(n, rng)
        got = generator(points, f(points), Distance(), beta, targets=x, target_values=f(x))
        row[:] = (got - expected - shift / n) / np.sqrt(variance / n)
    statistic, p = location_test(errors)
    assert p > 1e-6, statistic
    assert scale_test(errors, 0.05)[0] == pytest.approx(1, abs=0.1)
    groups = errors.reshape(-1, 20, 3)
    for level in (0.1, 0.01):
        count = sum(location_test(group)[1] < level for group in groups)
        assert_rate_at_most(count, len(groups), level)


def test_replicate_power_is_the_share_of_rejections_at_the_target_that_shows_most():
    """By simulation of Student's test with its level shared over three targets."""
    replicates, level, separations = 8, 0.05, np.array([0.2, -1.1, 0.0])
    errors = 1.1 + np.random.default_rng(5).standard_normal((20_000, replicates))
    p_values = stats.ttest_1samp(errors, 0.0, axis=1).pvalue
    rejected = int(np.sum(len(separations) * p_values <= level))
    power = replicate_location_power(separations, replicates, level)
    assert 0.3 < power < 0.7
    assert stats.binomtest(rejected, len(errors), power).pvalue > 1e-6
