"""Fitted factors: their null law, what they see, and which part is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from convergence.verification import Batch, Outcome, Setting
from convergence.verification.factor import FACTOR, factor_verdicts

SETTINGS = (Setting(20_000, 10.0, 12), Setting(60_000, 25.0, 9))
DRIFT = np.array([[0.4, -0.3], [0.2, 0.5], [-0.6, 0.1], [0.3, 0.4]])
LEVEL = 1e-6


def claims(synthetic):
    """By replicates, with the right weights and equal ones, and by known errors."""
    base = synthetic.claim(parts={"drift": lambda beta: DRIFT}, checks=("sampling",))
    weights = {"error_weights": lambda n, beta: synthetic.sampling_error(n, beta)[1]}
    return {
        "weighted": replace(base, sampling_error=None, **weights),
        "equal": replace(base, sampling_error=None),
        "known": base,
    }


def draw(synthetic, rng, claim, wrong=0.0, settings=SETTINGS):
    """Batches whose mean is expectation + wrong; functions of a target share half their noise."""
    found = []
    for s in settings:
        shift, sd = synthetic.sampling_error(s.n, s.beta)
        noise = rng.standard_normal((s.replicates, *sd.shape))
        common = rng.standard_normal((s.replicates, len(sd), 1))
        noise = (noise + common) / np.sqrt(2)
        mean = claim.expectation(s.beta) + wrong + (claim.sampling_error is not None) * shift
        found.append(Batch(s, mean + sd * noise))
    return found


def by_hand(synthetic, kind, batches, part, columns, label):
    """θ and its p-value: weighted least squares of every replicate, or of all with known errors."""
    if kind == "known" and label:
        column, values = [], []
        for b in batches:
            shift, sd = synthetic.sampling_error(b.setting.n, b.setting.beta)
            error = (b.values - synthetic.expectation(b.setting.beta) - shift) / sd
            values.append(error[:, :, columns].ravel())
            one = (part(b.setting.beta) / sd)[:, columns].ravel()
            column.append(np.tile(one, len(b.values)))
        column, values = np.concatenate(column), np.concatenate(values)
        theta = column @ values / (column @ column)
        return theta, 2 * stats.norm.sf(abs(theta) * np.linalg.norm(column))
    thetas = []
    for r in range(min(len(b.values) for b in batches)):
        column, values = [], []
        for b in batches:
            n, beta = b.setting.n, b.setting.beta
            shift, sd = synthetic.sampling_error(n, beta)
            scale = np.full(sd.shape, n**-0.5) if kind == "equal" else sd
            shift = shift if kind == "known" else 0.0
            error = (b.values[r] - synthetic.expectation(beta) - shift) / scale
            values.append(error[:, columns].ravel())
            column.append((part(beta) / scale)[:, columns].ravel())
        column, values = np.concatenate(column), np.concatenate(values)
        thetas.append(np.linalg.lstsq(column[:, None], values, rcond=None)[0][0])
    return np.mean(thetas), stats.ttest_1samp(thetas, 0).pvalue


@pytest.mark.parametrize("kind", ["weighted", "equal", "known"])
def test_factors_are_least_squares(synthetic, kind):
    claim = claims(synthetic)[kind]
    batches = draw(synthetic, np.random.default_rng(1), claim, 0.03 * DRIFT)
    verdicts = factor_verdicts(claim, batches, LEVEL)
    names = [(v.quantity, v.function) for v in verdicts]
    assert names == [(FACTOR, "f"), (FACTOR, "g"), (f"{FACTOR} of the drift", "")]
    for v in verdicts:
        part = claim.expectation if v.function else claim.parts["drift"]
        columns = [claim.functions.index(v.function)] if v.function else [0, 1]
        theta, p = by_hand(synthetic, kind, batches, part, columns, v.function)
        assert v.measured == pytest.approx(1 + theta, rel=1e-12)
        assert v.p_value == pytest.approx(p, rel=1e-8)
        assert (v.predicted, v.level) == (1.0, LEVEL)
        assert (v.low + v.high) / 2 == pytest.approx(v.measured, rel=1e-12)


def test_a_function_without_a_limit_has_no_factor(synthetic):
    claim = claims(synthetic)["known"]
    limit = synthetic.LIMIT * np.array([1.0, 0.005])
    batches = draw(synthetic, np.random.default_rng(1), claim)
    quantities = [
        (v.quantity, v.function)
        for v in factor_verdicts(replace(claim, limit=limit), batches, LEVEL)
    ]
    assert quantities == [(FACTOR, "f"), (f"{FACTOR} of the drift", "")]


@pytest.mark.parametrize("kind", ["weighted", "equal", "known"])
def test_p_values_under_the_null_are_uniform(synthetic, kind):
    """Exactly, whatever the weights and however functions depend on each other."""
    claim, rng = claims(synthetic)[kind], np.random.default_rng(2)
    found = [
        [v.p_value for v in factor_verdicts(claim, draw(synthetic, rng, claim), LEVEL)]
        for _ in range(400)
    ]
    for column in np.transpose(found):
        assert stats.kstest(column, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("kind", ["weighted", "known"])
def test_a_drift_five_percent_off_is_rejected_where_that_is_seen(synthetic, kind):
    """At as many replicates as make it see 5 %: in 99 of 100 runs, and not by the others."""
    claim, rng = claims(synthetic)[kind], np.random.default_rng(3)

    def settings(count):
        return [replace(s, n=30 * s.n, replicates=count) for s in SETTINGS]

    def verdict(count, wrong):
        batches = draw(synthetic, rng, claim, wrong * DRIFT, settings(count))
        return factor_verdicts(claim, batches, LEVEL)[-1]

    count = 8
    while np.mean([verdict(count, 0.0).sees for _ in range(50)]) > 0.05:
        count += 1
    assert 9 < count < 100
    found = [verdict(count, -0.05) for _ in range(500)]
    missed = sum(v.outcome != Outcome.FAIL for v in found)
    assert stats.binom.sf(missed - 1, 500, 0.015) > 1e-6
    assert np.mean([v.measured for v in found]) == pytest.approx(0.95, abs=2e-3)
    less = [verdict(count, -0.02) for _ in range(100)]
    assert sum(v.outcome == Outcome.FAIL for v in less) < 50


def test_nothing_to_fit_gives_nothing(synthetic):
    assert factor_verdicts(claims(synthetic)["known"], [], LEVEL) == []
