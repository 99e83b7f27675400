"""Claims on stratified spaces: estimates by hand, errors by simulation, faults at large β."""

import numpy as np
import pytest
from scipy import special, stats

from convergence.claims import (
    DimensionProblem,
    ExponentProblem,
    StrataProblem,
    decay_claim,
    exponent_claim,
    interior_claim,
    layer_claim,
    share_claim,
    turned,
)
from convergence.claims.strata_problems import strata_schedules
from convergence.errors import InvalidInputError
from convergence.spaces import (
    Chart,
    Coordinate,
    CrossingLines,
    Flat,
    Interval,
    LineThroughPlane,
    StratifiedSpace,
    Stratum,
    TouchingSpheres,
)
from convergence.verification.bias import bias_check

LINES = CrossingLines(0.9)
F = (LINES.function("2*sin(t) + t**2", "exp(-t) - 1"), LINES.function("x0 - 2*x1"))
PLACES = ((LINES.rays[0], 0.5), (LINES.rays[2], 0.8), (LINES.rays[1], 0.0))
PROBLEM = StrataProblem(LINES, PLACES, F, ((0.0, 0.0),) * 3, 1.0, 0.5)


def by_hand(problem, points, beta):
    """Σ_j K_ij (f_j - f_i)/Σ_j K_ij over the share of each target, scaled."""
    found = []
    for i, x in enumerate(problem.targets(beta)):
        y = points[i :: len(problem.places)]
        away = problem.space.features(y) - problem.space.features(x)
        kernel = np.exp(-beta * np.sum(away**2, axis=1))
        row = [kernel @ (g(y) - g(x)) / kernel.sum() for g in problem.functions_at(x)]
        found.append(problem.scale(beta) * np.array(row))
    return np.array(found)


def test_the_estimate_by_hand():
    points, beta = LINES.sample(900, np.random.default_rng(2)), 20.0
    expected = by_hand(PROBLEM, points, beta)
    for chunks in ([points], np.split(points, [300, 600])):  # whole rounds of targets each
        np.testing.assert_allclose(PROBLEM.estimate(iter(chunks), beta), expected, rtol=1e-10)


def test_the_local_dimension_by_hand():
    space = LineThroughPlane()
    places = ((space.plane_ray(0.3), 0.4), (space.line_ray, 0.1))
    problem = DimensionProblem(space, places, (), ((1.0,),) * 2, 2.0, 1.0, 0.5)
    points = space.sample(800, np.random.default_rng(3))
    np.testing.assert_allclose(
        problem.estimate([points], 9.0), by_hand(problem, points, 9.0), rtol=1e-10
    )


def assert_standard_normal(errors, false_alarm_rate=1e-6):
    """Mean zero and variance one, of independent entries."""
    z = np.mean(errors) * np.sqrt(errors.size)
    assert 2 * stats.norm.sf(abs(z)) > false_alarm_rate / 2
    p = stats.chi2.cdf(np.sum(errors**2), errors.size)
    assert 2 * min(p, 1 - p) > false_alarm_rate / 2


def standardised(problem, n, beta, replicates, rng):
    """(estimate - expectation - shift)/sd from independent samples."""
    shift, sd = problem.sampling_error(n, beta)
    assert min(problem.effective_degree(n, beta)) > 200
    centre = problem.expectation(beta) + shift
    samples = (problem.space.sample(n, rng) for _ in range(replicates))
    return np.stack([(problem.estimate([y], beta) - centre) / sd for y in samples])


def test_errors_at_targets_of_one_layer_are_independent_with_the_known_law():
    errors = standardised(PROBLEM, 12_000, 60.0, 120, np.random.default_rng(4))
    assert_standard_normal(errors[:, :, 0])
    correlation = np.corrcoef(errors[:, 0, 0], errors[:, 1, 0])[0, 1]
    assert abs(correlation) < 4.9 / np.sqrt(120)


def test_exponents_have_the_law_of_the_delta_method():
    interval = Interval()
    local = StrataProblem(
        interval, ((interval.rays[0], 0.0),), (interval.function("sin(3*t)"),), ((0.0,),), -4.0, 1.0
    )
    problem = ExponentProblem(local, 0.5)
    errors = standardised(problem, 16_000, 40.0, 150, np.random.default_rng(5))
    assert_standard_normal(errors)


def test_layer_faults_at_large_beta():
    """At the limit the wrong formulas are what they say."""
    claim = layer_claim(
        "x", LINES, LINES.rays, ((0, 0.7),), F, statement="", source="",
        wrong={"on one line": turned(1e-9), "perpendicular": turned(np.pi / 2)},
    )  # fmt: skip
    faults = {fault.name: fault.expectation for fault in claim.faults}
    beta, s = 1e8, 0.7
    np.testing.assert_allclose(claim.expectation(beta), claim.limit, atol=1e-3)
    np.testing.assert_allclose(faults["10 % too large"](beta), 1.1 * claim.limit, atol=1e-3)
    np.testing.assert_allclose(faults["other strata omitted"](beta), 0 * claim.limit, atol=1e-3)
    # w = 1 and ω = 0: both lines lie on one, s(f₂' - f₁')/2
    np.testing.assert_allclose(faults["on one line"](beta)[0, 0], s * (-1 - 2) / 2, atol=1e-3)
    w = np.exp(-(s**2))
    np.testing.assert_allclose(faults["perpendicular"](beta)[0, 0], -w / (1 + w) * s * 2, atol=1e-3)
    diffusive = faults["4β(I - P), a diffusion"]
    np.testing.assert_allclose(diffusive(beta) / diffusive(beta / 4), 2, rtol=1e-2)
    # a kernel of 2β sees s sqrt 2, and its steps are shorter by sqrt 2
    other = layer_claim(
        "y", LINES, LINES.rays, ((0, 0.7 * np.sqrt(2)),), F, statement="", source=""
    )
    np.testing.assert_allclose(faults["β off by 2"](beta), other.limit / np.sqrt(2), atol=1e-3)


def test_an_ended_ray_is_not_continued():
    interval = Interval()
    claim = layer_claim(
        "x", interval, interval.rays, ((0, 0.0), (0, 0.5)), (interval.function("t"),),
        statement="", source="",
    )  # fmt: skip
    faults = {fault.name: fault.expectation for fault in claim.faults}
    np.testing.assert_allclose(faults["as if no ray ended"](1e4), 0 * claim.limit, atol=1e-9)
    assert "other strata omitted" not in faults


def test_decay_next_to_an_end():
    """Exact at every β, and its wrong decays are what they say."""
    interval, s = Interval(), np.array([0.5, 1.5])
    claim = decay_claim(
        "x", interval, interval.rays[0], s, interval.function("3*t"), statement="", source="",
        betas=(40.0, 160.0),
    )  # fmt: skip
    exact = 3 * np.exp(-(s**2)) / (np.sqrt(np.pi) * (1 + special.erf(s)))
    np.testing.assert_allclose(claim.expectation(60.0)[:, 0], exact, atol=1e-11)
    np.testing.assert_allclose(claim.limit[:, 0], exact, rtol=1e-13)
    faults = {f.name: f.expectation(160.0)[:, 0] / exact for f in claim.faults}
    np.testing.assert_allclose(faults["no decay"], np.exp(s**2), rtol=1e-9)
    np.testing.assert_allclose(faults["e^{-2s²}"], np.exp(-(s**2)), rtol=1e-9)
    np.testing.assert_allclose(faults["e^{-s²/2}"], np.exp(s**2 / 2), rtol=1e-9)
    np.testing.assert_allclose(faults["e^{-s}"], np.exp(s**2 - s), rtol=1e-9)
    np.testing.assert_allclose(faults["1 + erf s omitted"], 1 + special.erf(s), rtol=1e-9)


def test_interior_faults_are_distinct():
    interval = Interval()
    claim = interior_claim(
        "x", interval, ((interval.rays[0], 0.5),), (interval.function("t**2"),),
        statement="", source="", order=None, betas=(80.0, 320.0),
    )  # fmt: skip
    found = {f.name: f.expectation(320.0)[0, 0] for f in claim.faults}
    right = claim.limit[0, 0]
    expected = {
        "10 % too large": 1.1 * right, "2/ε for 4/ε": right / 2, "sign of 𝒞": -right,
        "as at an end": right - 4 * np.sqrt(320 / np.pi),
    }  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-9)


def test_refusals():
    off = StrataProblem(LINES, ((LINES.rays[0], 7.0),), F, ((0.0, 0.0),), 1.0, 0.5)
    with pytest.raises(InvalidInputError, match="outside"):
        off.targets(4.0)
    box = tuple(Coordinate(name, 0, 1) for name in "uvw")
    cube = StratifiedSpace((Stratum(Chart(box, ("u", "v", "w"))),), (Flat((0.0,) * 3),))
    solid = StrataProblem(cube, (), (), (), 1.0, 0.5)
    with pytest.raises(InvalidInputError, match="dimensions 1 and 2"):
        strata_schedules(solid, 0.4, 0.5, (), 12.0, 1)


def test_an_exponent_between_opposite_signs_is_no_number():
    class Signs(StrataProblem):
        def expectation_of(self, beta, ratio, strata, width):
            return np.where(beta < 20, 1.0, -1.0) * np.ones((1, 1))

    local = Signs(LINES, PLACES[:1], F[:1], ((0.0,),), 1.0, 0.5)
    assert np.isnan(ExponentProblem(local, 0.5).expectation(10.0)).all()
    assert ExponentProblem(local, 0.5).expectation(30.0) == 0


def test_widths_that_are_wrong():
    spheres = TouchingSpheres()
    places = ((spheres.ray(0, 0.0), 0.8),)
    share = 1 / (1 + np.exp(0.8**4))
    claim = share_claim(
        "x", spheres, 1, places, (share,), statement="", source="", width=0.25, rate=0.5,
        other_widths=(0.5,),
    )  # fmt: skip
    faults = {fault.name: fault.expectation for fault in claim.faults}
    assert faults["a layer of width β^-0.5"](1e6)[0, 0] == pytest.approx(0.5, abs=1e-3)
    assert faults["other strata omitted"](1e6)[0, 0] == 0
    local = StrataProblem(
        spheres, places, (spheres.function("x0", "-x0"),), ((0.0,),), -4.0, 1.0, 0.25
    )
    claim = exponent_claim(
        "y", local, 0.75, diffusive=0.0, statement="", source="", other_widths=(0.5,)
    )
    assert {v.outcome for v in bias_check(claim, claim.schedules["smoke"])} == {"PASS"}
    wide = {fault.name: fault.expectation for fault in claim.faults}["a layer of width β^-0.5"]
    assert wide(1e6)[0, 0] == pytest.approx(0.5, abs=1e-3)  # 4β r with r of order β^-1/2


class Local:
    """Values v with normal errors of given mean and spread, by β; what an exponent is taken of."""

    limit = np.ones((1, 1))

    def expectation(self, beta):
        return np.full((1, 1), 2.0 if beta < 100 else -3.0)

    def sampling_error(self, n, beta):
        assert n == 500  # half of the sample at each β
        shift, sd = (0.02, 0.08) if beta < 100 else (-0.01, 0.2)
        return np.full((1, 1), shift), np.full((1, 1), sd)


def test_the_law_of_an_exponent():
    """Mean and spread of a logarithm of normal errors, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / np.sum(weights)
    means, variances = [], []
    for value, shift, sd in ((2.0, 0.02, 0.08), (-3.0, -0.01, 0.2)):
        logs = np.log(1 + (shift + sd * nodes) / value)
        means.append(weights @ logs)
        variances.append(weights @ logs**2 - means[-1] ** 2)
    problem = ExponentProblem(Local(), 0.5)
    shift, sd = problem.sampling_error(1000, 50.0)
    # to order 1/N: what is left is of the square of the relative variance, 2e-5
    assert shift[0, 0] == pytest.approx((means[1] - means[0]) / np.log(4), abs=3e-5)
    assert sd[0, 0] == pytest.approx(np.sqrt(sum(variances)) / np.log(4), rel=1e-2)


def test_the_bias_is_followed_from_where_bandwidths_fit():
    """Also of functions without second derivatives, whose bias is small at any β."""
    flat = LINES.function("sin(t)", "-2*t")
    claim = layer_claim(
        "c", LINES, LINES.rays, ((0, 0.0), (2, 0.7)), (flat,), statement="", source=""
    )
    assert min(claim.schedules["smoke"].betas) >= 12


def test_a_target_s_share_of_the_neighbours():
    """N/T ρ (π/β)^½ inside an interval, T targets."""
    interval = Interval()
    places = tuple((interval.rays[0], t) for t in (0.4, 0.5, 0.6))
    problem = StrataProblem(interval, places, (interval.function("t"),), ((0.0,),) * 3, 1.0, 1.0, 0)
    np.testing.assert_allclose(
        problem.effective_degree(3000, 400.0), 1000 * np.sqrt(np.pi / 400), rtol=1e-9
    )
