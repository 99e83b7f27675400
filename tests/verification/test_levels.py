"""Every stated level is shared among all tests, and decisions turn exactly at it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import convergence.testing
from convergence.errors import InvalidInputError
from convergence.scores import Distance
from convergence.spaces import Circle
from convergence.verification import Batch, Fault, Outcome, Setting, study_level, verify
from convergence.verification.bias import bias_check
from convergence.verification.sampling import sampling_check
from convergence.verification.statistics import log_log_slope

RATE = 1e-4


def kinds(synthetic):
    """Claims whose tests differ: known errors, replicates, parts, two settings, no factor."""
    base = synthetic.claim()
    standard = base.schedules["standard"]
    second = replace(standard.sampling[0], n=2 * standard.sampling[0].n)
    twice = {"standard": replace(standard, sampling=(standard.sampling[0], second))}
    parts = {"drift": lambda beta: synthetic.LIMIT, "curvature": lambda beta: synthetic.BIAS}
    nothing = synthetic.LIMIT * np.array([1.0, 0.0])
    return [
        base,
        replace(base, id="replicates", sampling_error=None, faults=()),
        replace(base, id="parts", parts=parts, schedules=twice, faults=3 * base.faults),
        replace(base, id="no factor", limit=nothing, checks=("sampling", "faults")),
        replace(base, id="joint only", checks=("joint",)),
    ]


def test_a_study_shares_its_rate_among_all_p_values(synthetic):
    claims = kinds(synthetic)
    level = study_level(claims, "standard", RATE)
    count = 0
    for claim in claims:
        schedule = claim.schedules["standard"]
        batches = synthetic.draw(np.random.default_rng(1), schedule)
        verdicts = verify(claim, schedule, batches, level)
        tested = [v for v in verdicts if np.isfinite(v.p_value)]
        assert {v.level for v in tested} == {level}
        count += len(tested)
    assert level * count == pytest.approx(RATE, rel=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_assert_limit_shares_its_rate_among_all_p_values(monkeypatch, count):
    """Also where each function has a limit of a size that gives it a factor."""
    seen = []

    def recording(claim, batches, level):
        verdicts = sampling_check(claim, batches, level)
        seen.extend(v for v in verdicts if np.isfinite(v.p_value))
        return verdicts

    monkeypatch.setattr(convergence.testing, "sampling_check", recording)
    circle = Circle()
    functions = [circle.fourier(k + 1, 0.4) for k in range(count)]

    def estimate(points, f, targets, beta):
        weights = np.exp(-beta * np.sum((targets[:, None] - points) ** 2, axis=-1))
        return 4 * beta * (f(targets) - weights @ f(points) / weights.sum(axis=1))

    convergence.testing.assert_limit(
        estimate, circle, Distance(), functions, n=4000, beta=8.0, replicates=8, sees=1e9,
        false_alarm_rate=RATE,
    )  # fmt: skip
    assert len(seen) == 3 * count
    assert sum(v.level for v in seen) == pytest.approx(RATE, rel=1e-12)


@pytest.mark.parametrize("wrong", ["mean", "variance"])
@pytest.mark.parametrize(("share", "fails"), [(0.51, False), (0.49, True)])
def test_standard_normal_turns_at_half_its_rate(wrong, share, fails):
    """One of its two tests with p just above or below, the other at ease."""
    rng, (replicates, targets) = np.random.default_rng(3), (10, 4)
    noise = rng.standard_normal((replicates, targets))
    noise -= noise.mean(axis=0)
    freedom = targets * (replicates - 1)
    square = stats.chi2.isf(share * RATE / 2, freedom) if wrong == "variance" else freedom
    noise *= np.sqrt(square / np.sum(noise**2))
    statistic = stats.chi2.isf(share * RATE, targets) if wrong == "mean" else 0.5 * targets
    errors = noise + np.sqrt(statistic / targets / replicates)
    if not fails:
        convergence.testing.assert_standard_normal(errors, RATE)
        return
    with pytest.raises(AssertionError, match=wrong):
        convergence.testing.assert_standard_normal(errors, RATE)


@pytest.mark.parametrize(("share", "fails"), [(0.99, False), (1.01, True)])
def test_a_rate_turns_at_its_one_sided_level(share, fails):
    n, rng = (100, 1000, 10_000), np.random.default_rng(5)
    errors = [size**-0.5 * rng.standard_normal((12, 2)) for size in n]
    slope, error, freedom = log_log_slope(np.array(n), errors, np.random.default_rng(0))
    rate = -slope + 2 * error  # claims more than there is: two standard errors
    level = share * stats.t.sf(2.0, freedom)

    def judge():
        convergence.testing.assert_rate_at_least(
            n, errors, rate, resolution=1.0, false_alarm_rate=level
        )

    if not fails:
        judge()
        return
    with pytest.raises(AssertionError, match="more slowly"):
        judge()


def prepared(synthetic, statistic, replicates=16):
    """One setting whose χ² of the means of f is prescribed, and that of g small."""
    setting = Setting(40_000, 30.0, replicates)
    shift, sd = synthetic.sampling_error(setting.n, setting.beta)
    noise = np.random.default_rng(9).standard_normal((replicates, *sd.shape))
    noise -= noise.mean(axis=0)
    noise /= np.sqrt(np.mean(noise**2, axis=(0, 1)))
    means = np.zeros(sd.shape)
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    means[:, 0] = signs * np.sqrt(statistic / replicates / len(signs))
    return Batch(setting, synthetic.expectation(setting.beta) + shift + sd * (noise + means))


@pytest.mark.parametrize(("share", "outcome"), [(1.01, "PASS"), (0.99, "FAIL")])
def test_a_mean_turns_at_the_level(synthetic, share, outcome):
    level = 1e-6
    batch = prepared(synthetic, stats.chi2.isf(share * level, 4))
    mean = sampling_check(synthetic.claim(), [batch], level)[0]
    assert (mean.quantity[:4], mean.function) == ("mean", "f")
    assert mean.p_value == pytest.approx(share * level, rel=1e-9)
    assert mean.outcome == Outcome(outcome)


@pytest.mark.parametrize(("share", "outcome"), [(0.99, "PASS"), (1.01, "INCONCLUSIVE")])
def test_a_fault_turns_at_the_level(synthetic, share, outcome):
    """The right reference itself taken as a fault: its power is no more than the level."""
    level = 1e-6
    batch = prepared(synthetic, stats.chi2.isf(share * level, 4))
    claim = synthetic.claim(checks=("faults",), faults=(Fault("none", synthetic.expectation),))
    schedule = claim.schedules["standard"]
    (verdict,) = verify(claim, schedule, {"sampling": [batch]}, level)
    assert verdict.outcome == Outcome(outcome)
    assert verdict.predicted == pytest.approx(stats.chi2.isf(level, 4), rel=1e-12)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("side", "outcome"), [(1.02, "FAIL"), (0.98, "INCONCLUSIVE")])
def test_a_fault_fails_only_with_a_power_over_one_minus_the_level(synthetic, known, side, outcome):
    """Data that side with the fault, of the size at which that power is reached, 2 % up or down.

    The power of replicates follows from their own standard deviation, with R - 1.
    """
    level, replicates = 1e-3, 16
    if known:
        batch = prepared(synthetic, 0.0)
        sd = synthetic.sampling_error(batch.setting.n, batch.setting.beta)[1]
        threshold = stats.chi2.isf(level, 4)
        sizes = np.linspace(0.5, 3, 40_001)
        power = stats.ncx2.sf(threshold, 4, replicates * sizes**2)
    else:
        setting = Setting(40_000, 30.0, replicates)
        noise = np.tile(np.array([1.0, -1.0])[:, None, None], (replicates // 2, 4, 2))
        batch = Batch(setting, synthetic.expectation(30.0) + noise)
        sd = np.full((4, 2), np.sqrt(replicates / (replicates - 1)))
        threshold = stats.t.isf(level / 8, replicates - 1)
        sizes = np.linspace(0.5, 6, 40_001)
        power = stats.nct.sf(threshold, replicates - 1, np.sqrt(replicates) * sizes)
    size = side * sizes[np.argmax(power > 1 - level)]
    away = np.zeros((4, 2))
    away[2, 1] = size * sd[2, 1]
    fault = Fault("away", lambda beta: synthetic.expectation(beta) + away)
    batch = replace(batch, values=batch.values + away)
    claim = synthetic.claim(checks=("faults",), faults=(fault,))
    claim = claim if known else replace(claim, sampling_error=None)
    (verdict,) = verify(claim, claim.schedules["standard"], {"sampling": [batch]}, level)
    assert verdict.outcome == Outcome(outcome)


@pytest.mark.parametrize(("share", "outcome"), [(0.99, "PASS"), (1.01, "FAIL")])
@pytest.mark.parametrize("order", [None, 1.0])
@pytest.mark.parametrize(("size", "scales"), [(1.0, [1.5, 2.0]), (40.0, [60, 80]), (0.1, [1, 1])])
def test_bias_is_held_to_a_billionth(synthetic, order, share, outcome, size, scales):
    """Of a function's largest limit, or of one; after a Richardson table, times its weights.

    Of 1/β alone the table leaves nothing but rounding, and of its weights Π (2^k + 1)/(2^k - 1).
    """
    tolerance = 1e-9 * np.array(scales)
    if order:
        tolerance = tolerance * np.prod([(2.0**k + 1) / (2.0**k - 1) for k in range(1, 8)])
    limit = size * synthetic.LIMIT

    def expectation(beta):
        return limit + (order or 0.0) / beta

    claim = synthetic.claim(bias_order=order, expectation=expectation)
    moved = limit.copy()
    moved[0, 0] -= share * tolerance[0]
    moved[1, 1] -= share * tolerance[1]
    verdicts = bias_check(replace(claim, limit=moved), claim.schedules["standard"])
    values = [v for v in verdicts if v.quantity == "value"]
    assert [v.outcome for v in values] == 2 * [Outcome(outcome)]


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(InvalidInputError, match="replicates >= 2"):
        convergence.testing.assert_standard_normal(np.zeros((1, 3)))
