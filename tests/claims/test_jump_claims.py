"""Claims on jumps: their sampling constants hold, targets keep apart, wrong mixtures differ."""

import numpy as np
import pytest

from convergence.claims import (
    Sector,
    critical_exponent_claim,
    generator_claim,
    sector_claim,
    steady_claim,
)
from convergence.claims.critical import FIRST_BETA, CriticalProblem
from convergence.claims.energy import EnergyProblem
from convergence.claims.generator import GeneratorProblem
from convergence.claims.sectors import SectorProblem
from convergence.claims.steady import SteadyProblem
from convergence.claims.varadhan import VaradhanProblem
from convergence.claims.wrong_scores import wrong_scores
from convergence.errors import InvalidInputError
from convergence.limits import MixtureLaw
from convergence.operators import MarkovOperator
from convergence.scores import Distance, IndefiniteHead, Jump, Mixture, harmonic_link
from convergence.spaces import Circle, Sphere
from convergence.testing import assert_standard_normal
from convergence.verification import Outcome
from convergence.verification.bias import bias_check

ring = Circle(kappa=0.6, mean_angle=0.5)
QUARTER, ANTIPODE = ((0.0, -1.0), (1.0, 0.0)), ((-1.0, 0.0), (0.0, -1.0))
DIRECTED = Mixture(
    ring,
    Distance((0.3, -0.2), link=harmonic_link([0.8])),
    (Jump(ring.polynomial("2 + x0"), QUARTER, beta=1.5),),
)
SECTORS = (
    Sector("rate", 1),
    Sector("drift", 0, direction=QUARTER),
    Sector("diffusion", 0, direction=QUARTER, square=True),
    Sector("jumps", 1, f=ring.fourier(1, 0.3)),
    Sector("local", 0, f=ring.fourier(2, 0.3)),
)


def errors(problem, n, beta, replicates):
    """Standardised, shape (replicates, targets, columns)."""
    shift, sd = problem.sampling_error(n, beta)
    samples = [problem.space.sample(n, np.random.default_rng([7, r])) for r in range(replicates)]
    values = np.stack([problem.estimate([s[:900], s[900:]], beta) for s in samples])
    return (values - problem.expectation(beta) - shift) / sd


def test_sampling_constants_of_sectors():
    """N(0, 1) at a false-alarm rate of 1e-4 a column."""
    problem = SectorProblem(ring, DIRECTED, SECTORS, (ring.fourier(1, 0.3),), 0.7, 1)
    found = errors(problem, 6000, 20.0, 120)
    for column in range(len(SECTORS)):
        assert_standard_normal(found[:, :, column])
    with pytest.raises(AssertionError):  # a rate 10 % too large
        assert_standard_normal(
            found[:, :, 0] * 1.0
            - 0.1 * (problem.expectation(20.0) / problem.sampling_error(6000, 20.0)[1])[:, 0]
        )


@pytest.mark.parametrize(
    ("space", "score", "f"),
    [
        (ring, DIRECTED, ring.fourier(2, 0.3)),
        (Circle(), IndefiniteHead(1.0, 0.2, 1.5), Circle().fourier(1, 0.3)),
    ],
    ids=["mixture", "head"],
)
def test_sampling_constants_of_the_generator(space, score, f):
    problem = GeneratorProblem(space, score, (f,), 0.7)
    assert_standard_normal(errors(problem, 6000, 20.0, 120)[:, :, 0])


def test_sectors_have_their_limits_and_add_up():
    f = ring.fourier(2, 0.3)
    sectors = (Sector("l", 0, f=f), Sector("j", 1, f=f))
    problem = SectorProblem(ring, DIRECTED, sectors, (f,), 0.7, 1)
    whole = GeneratorProblem(ring, DIRECTED, (f,), 0.7, 1)
    np.testing.assert_array_equal(problem.targets, whole.targets)
    for part, all_of_it in (
        (problem.limit, whole.limit),
        (problem.expectation(30.0), whole.expectation(30.0)),
    ):
        np.testing.assert_allclose(part.sum(axis=1, keepdims=True), all_of_it, rtol=1e-11)
    named = SectorProblem(ring, DIRECTED, SECTORS[:3], (f,), 0.7, 1)
    x = named.targets
    slope = ring.log_density_gradient(x) + np.array([0.3, -0.2])
    along = np.sum((x @ np.transpose(QUARTER)) * slope, axis=1) + 0.8
    np.testing.assert_allclose(named.limit[:, 1], -2 * 0.7 * along, rtol=1e-10)  # 2(Φ' - ħc)
    np.testing.assert_allclose(named.limit[:, 2], 0.7)


def test_targets_and_their_images_keep_apart():
    bond = Mixture(Circle(), Distance(), (Jump(1.0, ANTIPODE),))
    problem = GeneratorProblem(Circle(), bond, (Circle().fourier(1, 0.3),))
    places = np.concatenate([problem.targets, -problem.targets])
    least = min(
        np.linalg.norm(a - b)
        for i, a in enumerate(places) for j, b in enumerate(places) if (i - j) % 3
    )  # fmt: skip
    assert problem.separation == pytest.approx(least)
    assert least > 0.5
    plain = GeneratorProblem(Circle(), Distance(), (Circle().fourier(1, 0.3),))
    opposite = -plain.targets[:, None] - plain.targets
    assert np.min(np.linalg.norm(opposite, axis=-1)) < 0.1  # as they would be


def test_faults_of_jumps():
    names = set(wrong_scores(DIRECTED))
    assert {"jumps omitted", "rate halved", "symmetric law for a directed one"} <= names
    assert {"link reversed", "Doob weight omitted"} <= names
    symmetric = Mixture(ring, Distance(), (Jump(1.0, ANTIPODE),))
    assert "symmetric law for a directed one" not in wrong_scores(symmetric)
    claim = generator_claim("c", ring, DIRECTED, (ring.fourier(2, 0.3),), statement="", source="")
    right = claim.expectation(30.0)
    for fault in claim.faults:
        assert np.max(np.abs(fault.expectation(30.0) - right)) > 0.02 * np.max(np.abs(right)), fault
    # rows that keep their local mass: P1 is over one, and 𝒞1 minus the rate
    ones = GeneratorProblem(ring, DIRECTED, (ring.polynomial("1 + 0*x0"),))
    ones.__dict__["targets"] = x = ring.at(np.array([0.3, 1.0]))
    share = MixtureLaw(ring, DIRECTED).shares(x, 30.0)[1]
    np.testing.assert_allclose(ones._leaking(30.0)[:, 0], -120 * share / (1 - share), rtol=1e-10)
    f = ring.fourier(2, 0.3)
    one = GeneratorProblem(ring, DIRECTED, (f,))
    law = MixtureLaw(ring, DIRECTED)
    local, jumps = (piece.mean(f, one.targets) for piece in law.parts(one.targets, 30.0))
    share = law.shares(one.targets, 30.0)[1]
    leaking = 120 * (f(one.targets) - local - share / (1 - share) * jumps)
    np.testing.assert_allclose(one._leaking(30.0)[:, 0], leaking, rtol=1e-9)


def test_faults_of_a_head():
    claim = generator_claim(
        "h", Circle(), IndefiniteHead(1.0, 0.2, 1.5), (Circle().fourier(1, 0.3),),
        statement="", source="",
    )  # fmt: skip
    names = {fault.name for fault in claim.faults}
    assert {"width ratio omitted", "gap without its logarithm", "rate halved"} <= names
    ratio = next(f for f in claim.faults if f.name == "width ratio omitted")
    near, far = IndefiniteHead(1.0, 0.2, 1.5).curvatures
    change = ratio.expectation(50.0) - claim.expectation(50.0)
    x = GeneratorProblem(Circle(), IndefiniteHead(1.0, 0.2, 1.5), (Circle().fourier(1, 0.3),))
    jumps = 2 * 1.5 * Circle().fourier(1, 0.3)(x.targets)
    np.testing.assert_allclose(change[:, 0], jumps * (1 - np.sqrt(near / far)), rtol=1e-12)


def test_critical_claims_keep_their_scale():
    sphere = Sphere(2)
    half_turn = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
    f = sphere.polynomial("x0*x1 + x0")
    for gamma in (0.5, 1.0, 2.0):
        score = Mixture(sphere, Distance(), (Jump(1.5, half_turn, exponent=gamma),))
        claim = sector_claim(
            "s", sphere, score, (Sector("j", 1, f=f),), (f,), statement="", source="",
            bias_order=min(gamma, 1.0), bias_step=min(gamma, 1.0),
        )  # fmt: skip
        np.testing.assert_allclose(claim.expectation(1e8), claim.limit, rtol=2e-4)


CRITICAL = CriticalProblem(
    ring, Mixture(ring, Distance(), (Jump(1.5, QUARTER),)), ring.fourier(1, 0.3), 0.7
)


def test_the_growth_of_jumps_by_hand():
    """In plain NumPy, from the kernel exp(-β|x - y|²) + λ/4β^γ exp(-β|Tx - y|²)."""
    points, beta = ring.sample(8000, np.random.default_rng(3)), 10.0

    def v(gamma, b, y, x):
        there = np.array([-x[1], x[0]])
        local, jump = (np.exp(-b * np.sum((p - y) ** 2, axis=1)) for p in (x, there))
        jump *= 1.5 / (4 * b**gamma)
        f = np.cos(np.arctan2(y[:, 1], y[:, 0]) + 0.3)
        here = np.cos(np.arctan2(x[1], x[0]) + 0.3)
        return 4 * 0.7 * b * np.sum(jump * (here - f)) / np.sum(local + jump)

    for x, found in zip(CRITICAL.targets, CRITICAL.estimate(points, beta), strict=True):
        near = [v(g, beta, points[2 * k :: 8], x) for k, g in enumerate((0.5, 1, 1.5, 2))]
        far = [v(g, 4 * beta, points[2 * k + 1 :: 8], x) for k, g in enumerate((0.5, 1, 1.5, 2))]
        ratios = np.divide(far, near)
        design = np.stack([np.ones(4), [0.5, 1, 1.5, 2]], axis=1)
        a, b = np.linalg.lstsq(design, np.log(ratios), rcond=None)[0]
        np.testing.assert_allclose(found, [*ratios, -a / b, far[1]], rtol=1e-10)


def test_jumps_grow_stay_or_fall_with_their_exponent():
    """By 4^{1 - γ}, up to the orders that the claim states."""
    expected = np.array([2.0, 1.0, 0.5, 0.25, 1.0])
    np.testing.assert_allclose(CRITICAL.limit[:, :5], [expected] * 3, rtol=1e-15)
    misses = [np.abs(CRITICAL.expectation(b) - CRITICAL.limit)[:, :6] for b in (4e4, 16e4)]
    orders = np.log(misses[0] / misses[1]) / np.log(4)
    # the next order of γ = 3/2 is β^-1/2 smaller, here a few percent
    np.testing.assert_allclose(orders, [[0.5, 1, 1, 1, 0.5, 1]] * 3, atol=0.05)
    assert CRITICAL.separation > np.sqrt(14 / FIRST_BETA)  # as independent targets need it


def test_sampling_constants_of_the_growth_of_jumps():
    """N(0, 1) in every column, and not with a variance or a mean of a column left out."""
    n, beta = 100_000, FIRST_BETA
    shift, sd = CRITICAL.sampling_error(n, beta)
    samples = (ring.sample(n, np.random.default_rng([8, r])) for r in range(120))
    values = np.stack([CRITICAL.estimate(y, beta) for y in samples])
    found = (values - CRITICAL.expectation(beta) - shift) / sd
    for column in range(6):
        assert_standard_normal(found[:, :, column])
    # least squares weigh the four ratios: not as if the line went through two of them
    with pytest.raises(AssertionError):
        assert_standard_normal(found[:, :, 4] * np.sqrt(2))


def test_a_wrong_scale_of_jumps_is_seen(monkeypatch):
    """Relative masses that fall like β^-3γ/2, or with the width of the jump left out."""
    claim = critical_exponent_claim("c", ring, CRITICAL.score, CRITICAL.f, statement="", source="")
    right = Mixture._jump

    def wrong(change):
        def jump(self, of, features, beta):
            part = right(self, of, features, beta)
            return part._replace(log_weight=part.log_weight + change(of, beta))

        return jump

    for change in (
        lambda of, beta: -0.5 * of.exponent * np.log(beta),
        lambda of, beta: 0.5 * np.log(beta),
        lambda of, beta: -of.exponent * np.log(2 * beta / beta),  # 2β for β: no power is wrong
    ):
        with monkeypatch.context() as patch:
            patch.setattr(Mixture, "_jump", wrong(change))
            again = critical_exponent_claim(
                "c", ring, CRITICAL.score, CRITICAL.f, statement="", source=""
            )
            found = bias_check(again, claim.schedules["smoke"])
        assert Outcome.FAIL in {v.outcome for v in found if v.quantity == "value"}


def test_refusals():
    f, wide = ring.fourier(1, 0.3), DIRECTED
    bonds = (Jump(1.0, ANTIPODE), Jump(1.0, QUARTER, exponent=2.0))
    two = Mixture(ring, Distance(), bonds)
    for score, sectors, count in (
        (wide, (Sector("rate", 1),), 3),  # targets that depend on each other
        (two, (Sector("rate", 1),), 3),  # two scales
        (Mixture(ring, Distance(), bonds[1:]), (Sector("local", 0, f=f),), 3),
        (Mixture(ring, Distance(), bonds[:1]), (Sector("rate", 2),), 3),
    ):
        with pytest.raises(InvalidInputError):
            SectorProblem(ring, score, sectors, (f,), 0.7, count)
    with pytest.raises(InvalidInputError, match="local"):
        Sector("nothing", 0)
    even = Circle().polynomial("x0*x1")  # the same at x and -x
    with pytest.raises(InvalidInputError, match="hardly changes"):
        critical_exponent_claim(
            "c", ring, Mixture(ring, Distance(), bonds[:1]), even, statement="", source=""
        )
    large = Circle(radius=1.4)
    jump = Mixture(large, Distance(), (Jump(1.0, ANTIPODE),))
    with pytest.raises(InvalidInputError, match="radius"):
        steady_claim("s", large, jump, statement="", source="")
    with pytest.raises(InvalidInputError, match="unit"):
        VaradhanProblem(large, jump)


@pytest.mark.parametrize("kind", [SteadyProblem, EnergyProblem, VaradhanProblem])
def test_equal_angles_are_a_quadrature(kind):
    """On points at equal angles, each its own neighbour, sums are the reference's integrals."""
    circle, beta = Circle(), 20.0
    points = circle.at(2 * np.pi * np.arange(400) / 400)
    turning = Distance((0.3, -0.2), link=harmonic_link([0.8]))
    problem = {
        SteadyProblem: lambda: SteadyProblem(
            circle, Mixture(circle, turning, (Jump(2.0, QUARTER, beta=1.5),)), 0.7
        ),
        EnergyProblem: lambda: EnergyProblem(
            circle,
            Mixture(circle, Distance((0.3, -0.2)), (Jump(2.0, ANTIPODE),)),
            0.7,
            f=circle.fourier(1, 0.3),
        ),
        VaradhanProblem: lambda: VaradhanProblem(
            circle, Mixture(circle, Distance(), (Jump(1.0, ANTIPODE),))
        ),
    }[kind]()
    operator = MarkovOperator.of_sample(points, problem.score, beta, self_loops=True)
    np.testing.assert_allclose(
        problem.observed(operator, points), problem.expectation(beta)[0], rtol=1e-9
    )


def test_faults_of_energies_and_distances():
    circle = Circle()
    bond = Mixture(circle, Distance(), (Jump(2.0, ANTIPODE),))
    energy = EnergyProblem(ring, bond, 0.7, f=circle.fourier(1, 0.3))
    faults = {fault.name: fault.expectation(20.0) for fault in energy.faults()}
    right = energy.expectation(20.0)
    np.testing.assert_allclose(faults["every jump counted twice"] / right, [[1, 2]])
    assert np.max(np.abs(faults["density omitted"] / right - 1)) > 0.05  # in the jump part
    distance = VaradhanProblem(circle, bond)
    right = distance.expectation(20.0)
    for fault in distance.faults():
        assert np.max(np.abs(fault.expectation(20.0) / right - 1)) > 0.05, fault.name
