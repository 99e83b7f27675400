"""Every public way in for numbers refuses what is not real, not finite or masked, by name.

One table of calls, each with the one argument that is spoilt; a public name that stands neither in
the table nor among those without such an argument fails the last test.
"""

from fractions import Fraction

import numpy as np
import pytest

from convergence import kernels, limits, operators, scores, spaces, testing
from convergence.arrays import complex_array, index_array, real_array
from convergence.errors import InvalidInputError, require_flag, require_positive, require_real
from convergence.operators import Component, MarkovOperator
from convergence.scores import Distance, Head
from convergence.spaces import Chart, Circle, Coordinate, FlatTorus, Gaussian, Sphere, StarGraph

rng = np.random.default_rng(3)
CIRCLE, TORUS, PLANE = Circle(), FlatTorus((Circle(), Circle())), Gaussian(((1.0, 0.0), (0.0, 1.0)))
ON = CIRCLE.at(np.linspace(0.0, 2.0, 7))
OFF = rng.normal(size=(7, 2))
VALUES, LAW = ON[:, 0].copy(), np.full(7, 1 / 7)
Q, K = rng.normal(size=(2, 7, 3))
TURN = np.array([[0.0, 0.4], [-0.4, 0.0]])
F = CIRCLE.polynomial("x0*x1")
PLAIN = Distance()
WALK = MarkovOperator.of_sample(ON, PLAIN, 2.0, self_loops=True)
HEAD = Head(Q, K)
LINE = Chart((Coordinate("t", -1, 1),), ("t",))
STAR = StarGraph((1.0, 1.0, 1.0))
STAR_F = STAR.function("t**2")
AT = np.array([[0.0, 0.2], [1.0, 0.3]])
MIXTURE = scores.Mixture(CIRCLE, PLAIN, (scores.Jump(1.0, ((-1, 0), (0, -1))),))
INDEFINITE = scores.IndefiniteHead(1.0, 0.2, 1.5)
METRIC = scores.PerPointMetric((("2 + sin(u0)",),))
LINK = scores.GeneralLink("x0*y1 - x1*y0")
LAYER = limits.layer(STAR, STAR.rays, (STAR_F,))
RAYS = {"start": (0.0,), "direction": (1.0,)}


def estimated(found):
    return testing.assert_limit(
        lambda points, f, targets, beta: found, CIRCLE, PLAIN, (F,), n=50, beta=5.0, replicates=2
    )


def rate(errors):
    testing.assert_rate_at_least([10, 100, 1000], [errors, errors, errors], 0.9)


def streamed(points=ON, values=VALUES, weights=None, targets=ON[:2], target_values=VALUES[:2]):
    return operators.streamed_generator(
        [(points, values, weights)], PLAIN, 2.0, targets=targets, target_values=target_values
    )


# name: (call of the argument, an argument that is accepted)
ARRAYS = {
    "kernels.gaussian_sums queries": (lambda x: kernels.gaussian_sums(x, ON, 1.0), ON),
    "kernels.gaussian_sums keys": (lambda x: kernels.gaussian_sums(ON, x, 1.0), ON),
    "kernels.gaussian_sums weights": (lambda x: kernels.gaussian_sums(ON, ON, 1.0, x), VALUES),
    "kernels.gaussian_sums values": (lambda x: kernels.gaussian_sums(ON, ON, 1.0, None, x), VALUES),
    "kernels.gaussian_sums centers": (
        lambda x: kernels.gaussian_sums(ON, ON, 1.0, None, VALUES, x), VALUES,
    ),
    "kernels.gaussian_sums_blocks": (lambda x: kernels.gaussian_sums_blocks(x, ON, 1.0), ON),
    "kernels.repeated_sums": (lambda x: kernels.repeated_sums(ON, x, 1.0), ON),
    "kernels.score_sums": (lambda x: kernels.score_sums(scores.ProductScore(), x, ON, 1.0), ON),
    "kernels.score_sums scores": (
        lambda x: kernels.score_sums(lambda *_: x, ON, ON, 1.0), np.zeros((7, 7)),
    ),
    "operators.generator points": (
        lambda x: operators.generator(x, VALUES, PLAIN, 2.0, self_loops=True), ON,
    ),
    "operators.generator values": (
        lambda x: operators.generator(ON, x, PLAIN, 2.0, self_loops=True), VALUES,
    ),
    "operators.generator weights": (
        lambda x: operators.generator(ON, VALUES, PLAIN, 2.0, self_loops=True, log_weights=x),
        VALUES,
    ),
    "operators.streamed_generator points": (lambda x: streamed(points=x), ON),
    "operators.streamed_generator values": (lambda x: streamed(values=x), VALUES),
    "operators.streamed_generator weights": (lambda x: streamed(weights=x), VALUES),
    "operators.streamed_generator targets": (lambda x: streamed(targets=x), ON[:2]),
    "operators.streamed_generator target values": (
        lambda x: streamed(target_values=x), VALUES[:2],
    ),
    "operators.streamed_parts": (
        lambda x: operators.streamed_parts(
            [(x, VALUES)], PLAIN, 2.0, targets=ON[:2], target_values=VALUES[:2]
        ),
        ON,
    ),
    "operators.streamed_degree points": (
        lambda x: operators.streamed_degree([x], PLAIN, 2.0, targets=ON), ON,
    ),
    "operators.streamed_degree targets": (
        lambda x: operators.streamed_degree([ON], PLAIN, 2.0, targets=x), ON,
    ),
    "operators.Component queries": (lambda x: Component(x, ON), ON),
    "operators.Component keys": (lambda x: Component(ON, x), ON),
    "operators.Component weights": (lambda x: Component(ON, ON, x), VALUES),
    "operators.Component share": (lambda x: Component(ON, ON, None, x), LAW),
    "operators.MarkovOperator of_sample": (
        lambda x: MarkovOperator.of_sample(x, PLAIN, 2.0, self_loops=True), ON,
    ),
    "operators.MarkovOperator generator": (WALK.generator, VALUES),
    "operators.MarkovOperator carre_du_champ": (lambda x: WALK.carre_du_champ(x, VALUES), VALUES),
    "operators.MarkovOperator differences": (lambda x: WALK.differences(x, ON), ON),
    "operators.MarkovOperator flux": (WALK.flux, LAW),
    "operators.ScoreOperator": (
        lambda x: operators.ScoreOperator(scores.ProductScore(), x, ON, 1.0), ON,
    ),
    "operators.MagneticOperator": (
        lambda x: operators.MagneticOperator(WALK, lambda x, y: x @ TURN @ y.T, x), ON,
    ),
    "operators.MagneticOperator phases": (
        lambda x: operators.MagneticOperator(WALK, lambda *_: x).generator(VALUES),
        np.zeros((7, 7)),
    ),
    "operators.bilinear_phase": (operators.bilinear_phase, TURN),
    "operators.coifman_lafon": (
        lambda x: operators.coifman_lafon(x, 2.0, 1.0, self_loops=True), ON,
    ),
    "operators.log_row_sums": (lambda x: operators.log_row_sums(x, 2.0, self_loops=True), ON),
    "operators.target_measure": (
        lambda x: operators.target_measure(ON, 2.0, x, self_loops=True), VALUES,
    ),
    "operators.sample_log_weights": (
        lambda x: operators.sample_log_weights(x, PLAIN, 2.0, self_loops=True), ON,
    ),
    "operators.dirichlet_parts": (lambda x: operators.dirichlet_parts(WALK, x), VALUES),
    "operators.read_head queries": (lambda x: operators.read_head(x, K), Q),
    "operators.read_head keys": (lambda x: operators.read_head(Q, x), K),
    "operators.read_heads": (lambda x: operators.read_heads(x, K[None]), Q[None]),
    "scores.Head queries": (lambda x: Head(x, K), Q),
    "scores.Head keys": (lambda x: Head(Q, x), K),
    "scores.Head from_tokens": (lambda x: Head.from_tokens(x, Q.T, K.T), np.ones((2, 3))),
    "scores.Head from_tokens weights": (
        lambda x: Head.from_tokens(np.ones((2, 3)), x, K.T), Q.T.copy(),
    ),
    "scores.Distance link": (lambda x: Distance(link=x), TURN),
    "scores.Distance doob": (
        lambda x: Distance(tuple(x)).slope(2) if not np.ma.is_masked(x) else Distance(x),
        np.array([0.1, 0.2]),
    ),
    "scores.harmonic_link": (scores.harmonic_link, np.array([0.8, 0.2])),
    "scores.killing_link": (scores.killing_link, np.array([0.8, 0.2, 0.1])),
    "scores.Jump matrix": (lambda x: scores.Jump(1.0, x), TURN),
    "scores.Jump destination": (MIXTURE.jumps[0].destination, ON),
    "scores.Mixture": (lambda x: MIXTURE.parts(x, 2.0), ON),
    "scores.IndefiniteHead": (INDEFINITE.keys, ON),
    "scores.PerPointMetric": (lambda x: METRIC(x, ON, 1.0), ON),
    "scores.GeneralLink values": (lambda x: LINK.values(x, ON), ON),
    "scores.GeneralLink one_form": (LINK.one_form, ON),
    "spaces.Gaussian covariance": (Gaussian, np.array([[1.0, 0.2], [0.2, 1.0]])),
    "spaces.Sphere mu": (
        lambda x: Sphere(2, 1.0, x if np.ma.is_masked(x) else tuple(x)), np.array([1.0, 2.0, 0.0]),
    ),
    "spaces.Circle at": (CIRCLE.at, VALUES),
    "spaces.Chart mapped": (spaces.Ellipse(2, 1).mapped, TURN + np.eye(2)),
    "spaces.StarGraph directions": (lambda x: StarGraph((1.0,) * 7, x), ON),
    "spaces.OpenBook": (spaces.OpenBook, np.array([0.1, 0.5])),
    "spaces.StratifiedSpace along": (lambda x: STAR.along(STAR.rays[0], x), LAW),
    "spaces.StratifiedSpace points": (lambda x: STAR.points(0, x), LAW[:, None]),
    "limits.generator": (lambda x: limits.generator(CIRCLE, PLAIN, F, x), ON),
    "limits.generator on a torus": (
        lambda x: limits.generator(TORUS, PLAIN, TORUS.polynomial("x0*x2"), x), np.tile(ON, 2),
    ),
    "limits.generator in the plane": (
        lambda x: limits.generator(PLANE, PLAIN, PLANE.polynomial("x0"), x), OFF,
    ),
    "limits.generator on a chart": (
        lambda x: limits.generator(LINE, PLAIN, LINE.function("t**2"), x), LAW[:, None],
    ),
    "limits.drift": (lambda x: limits.drift(CIRCLE, PLAIN, F, x), ON),
    "limits.jump_rate": (lambda x: limits.jump_rate(CIRCLE, MIXTURE, MIXTURE.jumps[0], x), ON),
    "limits.expectation": (lambda x: limits.expectation(CIRCLE, PLAIN, F, x, 5.0), ON),
    "limits.sampling_constants": (
        lambda x: limits.sampling_constants(CIRCLE, PLAIN, F, x, 5.0), ON,
    ),
    "limits.effective_degree": (lambda x: limits.effective_degree(CIRCLE, PLAIN, x, 10, 5.0), ON),
    "limits.causal_limit": (
        lambda x: limits.causal_limit(scores.Causal(), LINE, LINE.function("t**2"), x),
        LAW[:, None],
    ),
    "limits.strata_generator": (lambda x: limits.strata_generator(STAR, STAR_F, x), AT),
    "testing.assert_limit": (estimated, np.zeros(4)),
    "testing.assert_standard_normal": (testing.assert_standard_normal, rng.normal(size=(40, 3))),
    "testing.assert_rate_at_least": (rate, rng.normal(size=(16, 2))),
}  # fmt: skip


def spoilt(kind, array):
    """A copy with one wrong entry, or all of a wrong type."""
    found = np.array(array, dtype=complex if kind == "complex" else float)
    first = (0,) * found.ndim
    if kind == "complex":
        found[first] += 1j
    elif kind == "masked":
        found = np.ma.masked_array(found, np.zeros(found.shape, dtype=bool))
        found[first] = np.ma.masked
    elif kind == "text":
        return found.astype(str)
    elif kind == "objects":
        found = found.astype(object)
        found[first] = None
    else:
        found[first] = np.nan
    return found


@pytest.mark.parametrize("kind", ["complex", "masked", "nan", "text", "objects"])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_real_finite_and_whole(name, kind):
    call, array = ARRAYS[name]
    with pytest.raises(InvalidInputError):
        call(spoilt(kind, array))


@pytest.mark.parametrize("name", ARRAYS)
def test_the_same_calls_take_what_is_right(name):
    call, array = ARRAYS[name]
    given = np.array(array)
    try:
        call(given)
    except AssertionError:  # a verdict on zeros
        assert name.startswith("testing")
    np.testing.assert_array_equal(given, array)


BAD_NUMBERS = [np.nan, np.inf, 1 + 1j, np.complex128(1), "1", None, np.ma.masked, np.ones(2)]
NUMBERS = {
    "kernels beta": lambda x: kernels.gaussian_sums(ON, ON, x),
    "operators.generator beta": lambda x: operators.generator(
        ON, VALUES, PLAIN, x, self_loops=True
    ),
    "operators.generator hbar": lambda x: operators.generator(
        ON, VALUES, PLAIN, 2.0, x, self_loops=True
    ),
    "operators.MarkovOperator": lambda x: MarkovOperator([Component(ON, ON)], x),
    "operators.MarkovOperator hbar": lambda x: WALK.generator(VALUES, x),
    "operators.MarkovOperator Γ": lambda x: WALK.carre_du_champ(VALUES, VALUES, x),
    "operators.head_operator": lambda x: operators.head_operator(HEAD, x),
    "operators.coifman_lafon": lambda x: operators.coifman_lafon(ON, 2.0, x, self_loops=True),
    "scores.beta_from": lambda x: scores.beta_from(scores.CONVENTIONS[0], x),
    "scores.CoifmanLafon": scores.CoifmanLafon,
    "scores.Jump rate": lambda x: scores.Jump(x, TURN),
    "scores.Jump exponent": lambda x: scores.Jump(1.0, TURN, exponent=x),
    "scores.IndefiniteHead": lambda x: scores.IndefiniteHead(1.0, x, 1.0),
    "scores.Head": lambda x: Head.from_tokens(Q, np.eye(3), np.eye(3), scale=x),
    "scores.GeneralLink scaled": LINK.scaled,
    "spaces.Sphere d": Sphere,
    "spaces.Sphere kappa": lambda x: Sphere(2, x, (1, 0, 0)),
    "spaces.Sphere radius": lambda x: Sphere(2, radius=x),
    "spaces.Circle mean_angle": lambda x: Circle(1.0, x),
    "spaces.Coordinate": lambda x: Coordinate("t", 0.0, x),
    "spaces.Cone": spaces.Cone,
    "spaces.CrossingLines": spaces.CrossingLines,
    "spaces.Disc": spaces.Disc,
    "spaces.HalfLine": lambda x: spaces.HalfLine(length=x),
    "spaces.Interval": lambda x: spaces.Interval(-1.0, x),
    "spaces.LineThroughPlane": spaces.LineThroughPlane,
    "spaces.LineThroughPlane length": lambda x: spaces.LineThroughPlane(0.3, x),
    "spaces.Ellipse": lambda x: spaces.Ellipse(x, 1.0),
    "spaces.Ellipsoid": lambda x: spaces.Ellipsoid(x, 1.0, 1.0),
    "spaces.GraphSurface": lambda x: spaces.GraphSurface("u*v", x),
    "spaces.SwissRoll": spaces.SwissRoll,
    "spaces.TorusOfRevolution": spaces.TorusOfRevolution,
    "spaces.StarGraph": lambda x: StarGraph((1.0, x)),
    "spaces.Stratum": lambda x: spaces.Stratum(LINE, x),
    "spaces.Flat": lambda x: spaces.Flat((x,)),
    "spaces.Ring": lambda x: spaces.Ring((0.0, 0.0), x),
    "spaces.Ray": lambda x: spaces.Ray(0, (x,), (1.0,)),
    "spaces.Polynomial dimension": lambda x: spaces.Polynomial("1", x),
    "limits.magnetic_limit": lambda x: limits.magnetic_limit(x, 1),
    "limits.magnetic_expectation": lambda x: limits.magnetic_expectation(x, 1, 9.0),
    "limits.killing_eigenvalue": lambda x: limits.killing_eigenvalue(1, 1, x),
    "limits.killing_eigenvalue degree": lambda x: limits.killing_eigenvalue(x, 0, 1.0),
    "limits.tangent_share": limits.tangent_share,
    "limits.causal_scale": limits.causal_scale,
    "limits.Layer": lambda x: LAYER.profile(0, x),
    "limits.CircularWalk": lambda x: limits.CircularWalk(CIRCLE, PLAIN, x),
    "limits.FourierGalerkin": lambda x: limits.FourierGalerkin(CIRCLE, PLAIN, 8, x),
    "limits.QuantumGraph": lambda x: limits.QuantumGraph((1.0, x)),
    "limits.RingChain": lambda x: limits.RingChain(CIRCLE, PLAIN, x),
    "limits.TiltedRing": lambda x: limits.TiltedRing(CIRCLE, PLAIN, x),
    "limits.expectation beta": lambda x: limits.expectation(CIRCLE, PLAIN, F, ON, x),
    "limits.energy_expectation": lambda x: limits.energy_expectation(CIRCLE, MIXTURE, F, x),
    "limits.gaussian_circulation": lambda x: limits.gaussian_circulation(PLANE, PLAIN, 5.0, x),
    "limits.gaussian_stationary": lambda x: limits.gaussian_stationary(
        PLANE, PLAIN, x if x is not None else "none"
    ),
    "limits.effective_degree n": lambda x: limits.effective_degree(CIRCLE, PLAIN, ON, x, 5.0),
    "testing target_count": lambda x: testing.assert_limit(
        lambda *_: np.zeros(4), CIRCLE, PLAIN, (F,), n=50, beta=5.0, target_count=x
    ),
    "testing false_alarm_rate": lambda x: testing.assert_standard_normal(np.ones((9, 1)), x),
}


@pytest.mark.parametrize("number", BAD_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_real_and_finite(name, number):
    with pytest.raises(InvalidInputError):
        NUMBERS[name](number)


WRONG = {
    "no flag: causal": lambda: operators.read_head(Q, K, causal="no"),
    "no flag: self-loops": lambda: MarkovOperator([Component(ON, ON)], 1.0, self_loops="no"),
    "no flag: self-loops of a generator": lambda: operators.generator(
        ON, VALUES, PLAIN, 2.0, self_loops="no"
    ),
    "no flag: reversed": lambda: scores.Causal(reversed="no"),
    "no flag: symmetrised": lambda: scores.PerPointMetric((("1",),), symmetrised="no"),
    "no flag: periodic": lambda: Coordinate("t", 0, 1, periodic="no"),
    "sphere of half a dimension": lambda: Sphere(2.5),
    "infinite mean direction": lambda: Sphere(2, 1.0, (np.inf, 0, 0)),
    "polynomial nan": lambda: CIRCLE.polynomial("nan"),
    "polynomial infinite": lambda: CIRCLE.polynomial("oo*x0"),
    "polynomial complex": lambda: CIRCLE.polynomial("I*x0"),
    "chart nan": lambda: Chart((Coordinate("t", 0, 1),), ("nan*t",)),
    "chart complex": lambda: Chart((Coordinate("t", 0, 1),), ("I*t",)).features(np.ones((1, 1))),
    "metric nan": lambda: scores.PerPointMetric((("nan",),)).matrix,
    "link nan": lambda: scores.GeneralLink("nan*(x0 - y0)"),
    "link complex": lambda: scores.GeneralLink("I*(x0 - y0)").values(ON, ON),
    "torus of numbers": lambda: FlatTorus((-1, 1)),
    "stratum of a sphere": lambda: spaces.Stratum(Sphere(2)),
    "fewer targets than one": lambda: CIRCLE.targets((F,), -1),
    "cycles that count from the end": lambda: operators.cycle_affinities(
        WALK, np.array([[0, 1, -1]])
    ),
    "cycles beyond the last": lambda: operators.cycle_affinities(WALK, np.array([[0, 1, 7]])),
    "entries from the end": lambda: operators.log_entries(WALK, [0], [-1]),
    "entries that are no pairs": lambda: operators.log_entries(WALK, [0, 1], [1]),
    "tokens from the end": lambda: HEAD.pair_scores(np.array([0]), np.array([-1])),
    "off the circle": lambda: limits.generator(CIRCLE, PLAIN, F, 1.1 * ON),
    "off the torus": lambda: limits.generator(
        TORUS, PLAIN, TORUS.polynomial("x0"), 1.1 * np.tile(ON, 2)
    ),
    "off the chart": lambda: limits.generator(LINE, PLAIN, LINE.function("t"), np.full((1, 1), 2)),
    "off the star": lambda: limits.strata_generator(STAR, STAR_F, np.array([[0.0, 1.2]])),
    "off the circle, drift": lambda: limits.drift(CIRCLE, PLAIN, F, 1.1 * ON),
    "off the circle, degree": lambda: limits.effective_degree(CIRCLE, PLAIN, 1.1 * ON, 9, 5.0),
    "off the circle, expectation": lambda: limits.expectation(CIRCLE, PLAIN, F, 1.1 * ON, 5.0),
    "of another dimension": lambda: limits.generator(CIRCLE, PLAIN, F, np.ones((3, 3))),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_such_thing_is_refused(name):
    with pytest.raises(InvalidInputError):
        WRONG[name]()


def test_conversions():
    for given in ([1, 2], (Fraction(1, 2), 3), np.array([True]), np.float16([1.5]), np.arange(3)):
        found = real_array("x", given)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, [float(x) for x in given])
    unmasked = np.ma.masked_array([1.0, 2.0], [False, False])
    assert type(real_array("x", unmasked)) is np.ndarray
    own = np.ones(3)
    assert real_array("x", own) is own
    assert not np.shares_memory(real_array("x", own, copy=True), own)
    assert np.isnan(real_array("x", [np.nan], finite=False)[0])
    for ragged in ([[1.0], [1.0, 2.0]], [unmasked, np.ma.masked_array([1.0, 2.0], [True, False])]):
        with pytest.raises(InvalidInputError, match="x "):
            real_array("x", ragged)
    assert complex_array("x", [1, 2j]).dtype == complex
    for wrong in ([np.nan * 1j], np.ma.masked_array([1j], [True]), ["1"]):
        with pytest.raises(InvalidInputError, match="x "):
            complex_array("x", wrong)
    np.testing.assert_array_equal(index_array("i", [], 0), [])
    for wrong in ([0.0], [-1], [3], [True], np.ma.masked_array([1], [True])):
        with pytest.raises(InvalidInputError, match="i "):
            index_array("i", wrong, 3)
    for number in (2, np.float32(2), np.int8(2), Fraction(2), np.array(2.0)):
        assert require_positive("x", number) == require_real("x", number) == 2.0
        assert type(require_real("x", number)) is float
    assert require_flag("x", np.True_) is True


# others that a user may call: what they take is made by the names above, or has its own test
ELSEWHERE = {
    "operators": {
        "Bridge", "Eigenpairs", "HeadReading", "Scaling", "Stationary",  # results
        "bridge", "sinkhorn", "walk_density", "elimination_law", "entropy_production",
        "key_difference", "query_difference", "net_flux", "time_reversal",
        "eigenpairs", "reversible_law", "stationary", "log_matrix", "communicating_classes",
        "restricted", "stationary_by_class",  # take an operator
    },
    "scores": {
        "CONVENTIONS", "MEMBERS", "RANDOM_WALK", "CausalScore", "GaussianScore", "KeyPotential",
        "Normalisation", "Part", "ProductScore", "Score", "Sinkhorn", "TargetMeasure",
    },
    "spaces": {
        "ChartFunction", "ClosedCurve", "SmoothFunction", "Space", "StrataFunction",
        "StratifiedSpace", "TanhTorus", "TouchingSpheres", "angle",
    },
    "limits": {
        "CausalLaw", "GraphChain", "MixtureLaw", "Profile", "QuadratureLaw", "StepLaw",
        "StratifiedLaw", "bridge_potentials", "crossing_generator", "energy_limit",
        "expectation_of", "jump_part", "layer", "log_mass", "log_weight", "profile_of",
        "revolution", "sampling_constants_of", "score_law", "sinkhorn_potential", "step_law",
    },
    "kernels": set(),
}  # fmt: skip


@pytest.mark.parametrize("room", [kernels, operators, scores, spaces, limits])
def test_every_public_name_is_in_a_table(room):
    name = room.__name__.rpartition(".")[2]
    source = "\n".join([*ARRAYS, *NUMBERS])
    tested = {n for n in room.__all__ if f"{name}.{n}" in source}
    calls = set().union(*(set(call.__code__.co_names) for call in WRONG.values()))
    missing = set(room.__all__) - tested - calls - ELSEWHERE[name]
    assert not missing
