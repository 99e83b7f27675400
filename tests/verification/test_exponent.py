"""The stated exponent is held against the exact curve at large N, where no sample is needed."""

from dataclasses import replace

import numpy as np
import pytest

from convergence.verification import Outcome, Setting, overall
from convergence.verification.bias import bias_check
from convergence.verification.exponent import exponent_verdicts


def judged(claim, rate=2 / 7, **changes):
    """The verdicts along β = 20 (N/10⁴)^rate; changes are those of the schedule."""
    schedule = replace(claim.schedules["standard"], **changes)
    joint = [replace(s, beta=20.0 * (s.n / schedule.joint[0].n) ** rate) for s in schedule.joint]
    return exponent_verdicts(claim, replace(schedule, joint=tuple(joint)))


def outcomes(verdicts):
    return {v.outcome for v in verdicts}


def test_the_exponent_is_found_with_its_name(synthetic):
    """A bias of order o = 1 and sd² ~ β^k/N with k = 3/2: rate 1/(2o + k), slope -rate o."""
    verdicts = judged(synthetic.claim())
    assert [v.function for v in verdicts] == ["f", "g"]
    assert {(v.check, v.quantity) for v in verdicts} == {("joint", "exponent")}
    assert outcomes(verdicts) == {Outcome.PASS}
    for v in verdicts:
        assert v.low < -2 / 7 < v.high
        assert v.high - v.low < 0.02
        assert v.measured == pytest.approx(-2 / 7, abs=1e-3)
        assert v.predicted == -2 / 7


@pytest.mark.parametrize("slope", [-0.9, -0.5, -0.3, -0.27, 2 / 7, 0.0])
def test_a_wrong_slope_fails(synthetic, slope):
    assert outcomes(judged(synthetic.claim(slope=slope))) == {Outcome.FAIL}


def test_without_a_slope_there_is_nothing_to_hold(synthetic):
    assert judged(synthetic.claim(slope=None)) == []


@pytest.mark.parametrize("rate", [1 / 4, 0.3, 1 / 3, 0.5])
def test_a_wrong_rate_fails(synthetic, rate):
    """Slower, bias leads: -rate; faster, noise: (k rate - 1)/2. Neither is -2/7."""
    verdicts = judged(synthetic.claim(), rate)
    assert outcomes(verdicts) == {Outcome.FAIL}
    leads = max(-rate, (1.5 * rate - 1) / 2)
    np.testing.assert_allclose([v.measured for v in verdicts], leads, atol=0.01)


@pytest.mark.parametrize(("order", "noise"), [(0.5, True), (0.5, False), (2.0, False)])
def test_a_wrong_order_fails(synthetic, order, noise):
    """The stated slope is that of order 1; noise alone would fall as fast as that of order 2."""
    limit, bias = synthetic.LIMIT, synthetic.BIAS
    claim = synthetic.claim(expectation=lambda beta: limit + bias * beta**-order, bias_order=order)
    if not noise:
        claim = replace(claim, sampling_error=None)
    betas = tuple(2.0**k for k in range(3, 11))
    verdicts = judged(claim, betas=betas)
    assert outcomes(verdicts) == {Outcome.FAIL}
    np.testing.assert_allclose([v.measured for v in verdicts], -2 / 7 * order, atol=1e-3)
    # and a wrongly stated order fails where orders are measured
    schedule = replace(claim.schedules["standard"], betas=betas)
    assert overall(bias_check(claim, schedule)) == Outcome.PASS
    assert overall(bias_check(replace(claim, bias_order=1.0), schedule)) == Outcome.FAIL


@pytest.mark.parametrize(("order", "rate"), [(0.5, 0.4), (1.0, 2 / 7), (2.0, 2 / 11)])
@pytest.mark.parametrize("noise", [True, False])
def test_the_right_slope_of_every_order_passes(synthetic, order, rate, noise):
    limit, bias = synthetic.LIMIT, synthetic.BIAS

    def expectation(beta):
        return limit + bias * beta**-order + bias**2 * beta ** -(order + 0.5)

    claim = synthetic.claim(
        expectation=expectation, bias_order=order, bias_step=0.5, slope=-rate * order
    )
    if not noise:
        claim = replace(claim, sampling_error=None)
    betas = tuple(4.0**k for k in range(3, 12)) if order < 2 else tuple(2.0**k for k in range(3, 9))
    verdicts = judged(claim, rate, betas=betas)
    assert Outcome.FAIL not in outcomes(verdicts)
    if order < 2:  # a bias below the rounding of references leaves few values
        assert outcomes(verdicts) == {Outcome.PASS}
    wrong = judged(replace(claim, slope=-rate * order - 0.03), rate, betas=betas)
    assert Outcome.PASS not in outcomes(wrong)


@pytest.mark.parametrize(("slope", "outcome"), [(-2 / 7, "PASS"), (-0.26, "FAIL"), (-0.9, "FAIL")])
@pytest.mark.parametrize("noise", [True, False])
def test_a_logarithmic_bias(synthetic, noise, slope, outcome):
    """β^-1 log β: its local slopes approach -rate like 1/log β, what is left of it at once."""
    limit, bias = synthetic.LIMIT, synthetic.BIAS

    def expectation(beta):
        return (
            limit + (bias * np.log(beta) + bias**2 / 4) / beta + bias * np.log(beta) ** 2 / beta**2
        )

    claim = synthetic.claim(expectation=expectation, bias_logarithm=True, slope=slope)
    if not noise:
        claim = replace(claim, sampling_error=None)
    assert outcomes(judged(claim, betas=tuple(2.0**k for k in range(6, 14)))) == {Outcome(outcome)}


@pytest.mark.parametrize(
    ("slope", "bound", "outcome"),
    [(-0.5, False, "PASS"), (-0.5, True, "PASS"), (-0.4, False, "FAIL"), (-0.9, True, "FAIL")],
)
def test_at_a_fixed_beta_only_noise_falls(synthetic, slope, bound, outcome):
    claim = synthetic.claim(
        expectation=lambda beta: synthetic.LIMIT, bias_order=None, slope=slope,
        slope_is_bound=bound,
        sampling_error=lambda n, beta: (np.zeros((4, 2)), np.full((4, 2), 3 / np.sqrt(n))),
    )  # fmt: skip
    fixed = tuple(Setting(n, 20.0, 24) for n in synthetic.SIZES)
    assert outcomes(judged(claim, 0.0, joint=fixed)) == {Outcome(outcome)}


def test_a_bound_of_noise_lets_a_bias_fall_faster(synthetic):
    """Stated "at least N^-1/2", with a bias like N^-6/7; only for that bound."""
    changes = {
        "expectation": lambda beta: synthetic.LIMIT + synthetic.BIAS / beta**3,
        "bias_order": 3.0,
        "sampling_error": None,
        "slope_is_bound": True,
    }
    betas = tuple(2.0**k for k in range(2, 9))
    right = judged(synthetic.claim(slope=-0.5, **changes), betas=betas)
    assert outcomes(right) == {Outcome.PASS}
    wrong = judged(synthetic.claim(slope=-0.4, **changes), betas=betas)
    assert outcomes(wrong) == {Outcome.FAIL}


def test_a_bias_below_rounding_decides_nothing(synthetic):
    claim = synthetic.claim(
        expectation=lambda beta: synthetic.LIMIT + 1e-9 * synthetic.BIAS / beta,
        sampling_error=None,
    )
    verdicts = judged(claim)
    assert outcomes(verdicts) == {Outcome.INCONCLUSIVE}
    assert all("rounding" in v.reason for v in verdicts)
