"""Laws that every space must obey; a new space is one more line in SPACES."""

import numpy as np
import pytest
from scipy import stats

from convergence.spaces import (
    Chart,
    Circle,
    ClosedCurve,
    Coordinate,
    Ellipse,
    Ellipsoid,
    FlatTorus,
    Gaussian,
    GraphSurface,
    Sphere,
    SwissRoll,
    TanhTorus,
    TorusOfRevolution,
    angle,
)

SHEAR = np.array([[1, 0.2, 0], [0, 0.5, -0.3], [0, 0, 2]])
SPACES = [
    Circle(),
    Circle(kappa=1.3, mean_angle=0.6),
    Circle(kappa=2.0, mean_angle=-2.0, radius=0.7),
    Sphere(2),
    Sphere(2, kappa=1.1, mu=(0.9, -0.4, 0.5)),
    Sphere(3, radius=1.5),
    Sphere(5, kappa=3.0, mu=(1, 0, 0, 2, 0, 0)),
    Gaussian(((1.7,),)),
    Gaussian(((2.0, 0.5), (0.5, 1.0))),
    FlatTorus((Circle(kappa=0.8, mean_angle=0.5), Circle(kappa=1.1, radius=0.7))),
    Ellipse(2, 1, "cos(u)/2", "coordinates"),
    Ellipsoid(1, 1.3, 0.8, "sin(u)*cos(v)/2"),
    TorusOfRevolution(),
    TorusOfRevolution(2, 1, "cos(u)/2 + 3*sin(v)/10", "coordinates"),
    TorusOfRevolution(log_density="cos(u - v)").mapped(SHEAR),
    SwissRoll(log_density="-h/8"),
    GraphSurface("exp(-u**2 - v**2)", log_density="u/3"),
    ClosedCurve("cos(2*pi*t)"),
    TanhTorus(),
    Chart(
        (angle("u"), angle("v"), Coordinate("r", 0.5, 1.5)),
        ("(2 + r*cos(u))*cos(v)", "(2 + r*cos(u))*sin(v)", "r*sin(u)", "r**2"),
        "sin(u)/3 + r",
    ),
]
EXPRESSIONS = ["x0", "x1", "x0*x1", "x0**2 - x1", "x0**3 - 2*x0*x1**2 + x1"]
# chance that a right space fails any of its statistical laws
FALSE_ALARM_RATE = 1e-6


every_space = pytest.mark.parametrize(
    "space", SPACES, ids=[f"{i}-{space}" for i, space in enumerate(SPACES)]
)


def functions(space):
    """The test functions; on a chart with edges times what vanishes there with its slope.

    Stein's identity then has no boundary term. (The ends of an ellipsoid are no edges.)
    """
    expressions = [e for e in EXPRESSIONS if space.ambient_dim > 1 or "x1" not in e]
    if isinstance(space, Chart) and not isinstance(space, Ellipsoid):
        edges = "".join(
            f"*(({c.name} - {c.low!r})*({c.high!r} - {c.name})*{4 / c.length**2!r})**2"
            for c in space.coordinates
            if not c.periodic
        )
        expressions = [f"({e}){edges}" for e in expressions]
    return [space.polynomial(e) for e in expressions]


def moved(space, x, tangent):
    """The points x moved by small tangent vectors among the features."""
    if isinstance(space, Chart):
        return x + np.einsum("nai,ni->na", np.linalg.pinv(space.jacobian(x)), tangent)
    return x + tangent


def assert_mean(values, expected, tests):
    z = (np.mean(values) - expected) / (np.std(values, ddof=1) / np.sqrt(len(values)))
    assert 2 * stats.norm.sf(abs(z)) > FALSE_ALARM_RATE / tests, f"z = {z:.1f}"


@every_space
def test_samples_density_and_geometry_agree(space):
    """Stein: E[Δf + ⟨∇ log ρ, ∇f⟩] = 0 ties sampler, density, projector and curvature."""
    n = 50_000 if isinstance(space, Chart) else 200_000  # charts are held to quadrature as well
    x = space.sample(n, np.random.default_rng(1))
    assert x.shape == (n, space.candidates().shape[1])
    assert space.features(x).shape == (n, space.ambient_dim)
    slope = space.log_density_gradient(x)
    for f in functions(space):
        drift = np.sum(slope * space.gradient(f, x), axis=1)
        assert_mean(space.laplacian(f, x) + drift, 0, len(EXPRESSIONS))


@every_space
def test_density_integrates_to_one(space):
    if not np.isfinite(space.volume):
        reference = stats.multivariate_normal(cov=space.sigma)
        x = space.candidates()
        np.testing.assert_allclose(space.log_density(x), reference.logpdf(x), atol=1e-12)
        return
    x = space.sample(100_000, np.random.default_rng(2))
    inverse = np.exp(-space.log_density(x))
    if np.ptp(inverse) < 1e-9:
        np.testing.assert_allclose(inverse, space.volume, rtol=1e-12)
    else:
        assert_mean(inverse, space.volume, 1)


@every_space
def test_density_gradient_is_that_of_the_density(space):
    x = space.candidates()[:50]
    step = 1e-6
    for axis in np.eye(space.ambient_dim):
        # along the space: a tangent direction, followed to second order
        tangent = np.einsum("nab,b->na", space.projector(x), axis)
        ahead, behind = (
            space.log_density(moved(space, x, sign * step * tangent)) for sign in (1, -1)
        )
        difference = (ahead - behind) / (2 * step)
        exact = np.sum(space.log_density_gradient(x) * tangent, axis=1)
        np.testing.assert_allclose(difference, exact, atol=1e-7)


@every_space
def test_gradients_are_tangent(space):
    x = space.candidates()[:50]
    projector = space.projector(x)
    np.testing.assert_allclose(projector @ projector, projector, atol=1e-13)
    np.testing.assert_allclose(np.trace(projector, axis1=1, axis2=2), space.dim, atol=1e-12)


@every_space
def test_candidates_lie_where_samples_are(space):
    """On the space, and no rarer than e^-2 or so of the densest."""
    x = space.candidates()
    log_density = space.log_density(x)
    sample = space.log_density(space.sample(20_000, np.random.default_rng(3)))
    assert log_density.min() > np.quantile(sample, 0.001) - 1
    if isinstance(space, Gaussian):
        distance = np.einsum("na,ab,nb->n", x, space.precision, x)
        assert distance.max() <= 1.5**2 * (1 + 1e-12)


@every_space
def test_targets_are_fixed_apart_and_steep(space):
    chosen = functions(space)[:2]
    targets = space.targets(chosen, 4)
    np.testing.assert_array_equal(targets, space.targets(chosen, 4))
    features = space.features(targets)
    gaps = np.linalg.norm(features[:, None] - features[None], axis=-1)[~np.eye(4, dtype=bool)]
    size = np.linalg.norm(np.std(space.features(space.candidates()), axis=0))
    assert gaps.min() > 0.2 * min(1, size)
    for f in chosen:
        slope = np.linalg.norm(space.gradient(f, space.candidates()), axis=1)
        at_targets = np.linalg.norm(space.gradient(f, targets), axis=1)
        assert at_targets.min() >= 0.25 * np.sqrt(np.mean(slope**2))


@every_space
def test_sampling_depends_on_the_generator_alone(space):
    a, b = (space.sample(50, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(a, b)


@every_space
def test_every_coordinate_depends_on_the_generator(space):
    """With another generator no column repeats, as one drawn from a stream of its own would."""
    a, b = (space.sample(50, np.random.default_rng(seed)) for seed in (7, 8))
    assert not np.any(np.all(a == b, axis=0))
    one, two = np.split(space.sample(100, np.random.default_rng(7)), 2)
    assert not np.any(np.all(one == two, axis=0))
