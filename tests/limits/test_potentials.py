"""Potentials on profiles: their equations at other points, brute force, and known limits."""

import time

import numpy as np
import pytest

from convergence import limits
from convergence.errors import InvalidInputError, NotConvergedError, QuadratureError
from convergence.limits import potentials
from convergence.limits import profile as profiles
from convergence.scores import CoifmanLafon
from convergence.spaces import Chart, Circle, Coordinate, Sphere, angle

R, SKEW = 2.0, 0.8
CIRCLE = Circle(1.3, 0.6)
SPHERE = Sphere(2, 1.1, (0.0, 0.6, 0.8))


def torus_log_density(v):
    """log ρ(v), up to a constant."""
    return SKEW * np.cos(v - 0.4)


def tube_angle(x):
    return np.arctan2(x[..., 2], np.hypot(x[..., 0], x[..., 1]) - R)


TORUS = limits.revolution(
    lambda v: R + np.cos(v),
    np.sin,
    lambda v: torus_log_density(v) + np.log(R + np.cos(v)),
    tube_angle,
)
PROFILES = {
    "circle": (limits.profile_of(CIRCLE), lambda s: CIRCLE.log_density(CIRCLE.at(s)), 1),
    "sphere": (limits.profile_of(SPHERE), lambda s: 1.1 * np.cos(s), 2),
    "torus": (TORUS, torus_log_density, 2),
}
every_profile = pytest.mark.parametrize("name", PROFILES)


def inside(profile, n=41):
    low, high = profile.interval
    return low + (high - low) * (np.arange(n) + 0.5) / n


def applied(profile, beta, x, s):
    """log ∫ K̄(s, t) e^{x(t)} dν(t) on a rule of its own."""
    n = int(200 + 40 * np.sqrt(beta))
    rule = profiles.Rule(profile, beta, n)
    return rule.log_mean(rule.log_kernel(s), x(rule.nodes))


@every_profile
@pytest.mark.parametrize("beta", [0.5, 30.0, 700.0])
def test_sinkhorn_equation_off_the_grid(name, beta):
    profile = PROFILES[name][0]
    s = inside(profile)
    u = limits.sinkhorn_potential(profile, beta)
    np.testing.assert_allclose(u(s) + applied(profile, beta, u, s), 0, atol=2e-12)


@every_profile
def test_sinkhorn_equation_at_the_largest_beta(name):
    profile, beta = PROFILES[name][0], 2.0**13
    s = inside(profile, 11)
    u = limits.sinkhorn_potential(profile, beta)
    np.testing.assert_allclose(u(s) + applied(profile, beta, u, s), 0, atol=1e-11)


@every_profile
def test_sinkhorn_tends_to_the_root_of_the_density(name):
    """log u → -½ log ρ + const with an error of order 1/β; without the root it does not."""
    profile, log_rho, _ = PROFILES[name]
    s = inside(profile)
    errors = []
    for beta in (200.0, 400.0):
        rest = limits.sinkhorn_potential(profile, beta)(s) + 0.5 * log_rho(s)
        errors.append(rest - rest[0])
    assert 1e-4 < np.max(np.abs(errors[0])) < 2e-2
    np.testing.assert_allclose(2 * errors[1], errors[0], atol=2e-4)


@pytest.mark.parametrize(
    ("space", "profile"), [(CIRCLE, PROFILES["circle"][0]), (SPHERE, PROFILES["sphere"][0])]
)
@pytest.mark.parametrize("beta", [3.0, 200.0, 8192.0])
def test_mass_against_the_closed_form(space, profile, beta):
    """The averaged kernel and the Bessel formula of the step law give the same q_β."""
    x = space.candidates()[:40]
    got = limits.log_mass(profile, beta)(profile.coordinate(x))
    expected = limits.log_weight(CoifmanLafon(-1.0), space, beta)(x)
    np.testing.assert_allclose(got, expected, atol=3e-12)


def torus_points(n):
    """A product rule of n × n points with the probability masses of ν."""
    v, phi = np.meshgrid(*[2 * np.pi * np.arange(n) / n] * 2, indexing="ij")
    r = R + np.cos(v)
    points = np.stack([r * np.cos(phi), r * np.sin(phi), np.sin(v)], axis=-1).reshape(-1, 3)
    masses = (r * np.exp(torus_log_density(v))).ravel()
    return points, v.ravel(), masses / masses.sum()


def test_torus_against_brute_force():
    """q_β, and the Sinkhorn equation, by a plain sum over the surface in space."""
    beta = 8.0
    points, v, masses = torus_points(160)
    x = points[[3, 5000, 17_777]]
    kernel = np.exp(-beta * np.sum((x[:, None] - points) ** 2, axis=-1)) * masses
    at = tube_angle(x)
    q = limits.log_mass(TORUS, beta)(at)
    np.testing.assert_allclose(q, np.log(kernel.sum(axis=1)), atol=1e-11)
    u = limits.sinkhorn_potential(TORUS, beta)
    np.testing.assert_allclose(u(at) + np.log(kernel @ np.exp(u(v))), 0, atol=1e-11)


def tilted(amount, phase):
    return lambda s: amount * np.cos(s - phase)


@every_profile
@pytest.mark.parametrize("beta", [2.0, 60.0, 400.0])
def test_bridge_equations_off_the_grid(name, beta):
    """Both equations, and marginals that are probabilities."""
    profile = PROFILES[name][0]
    # on a sphere only even functions of the angle to the axis are smooth
    shifts = (0.0, 0.0) if name == "sphere" else (0.0, 0.7)
    first, second = (tilted(a, p) for a, p in zip((0.3, -0.2), shifts, strict=True))
    phi, psi = limits.bridge_potentials(profile, beta, first, second)
    s = inside(profile)
    scale = max(1.0, np.max(np.abs(psi(s))))
    for own, other, density in ((phi, psi, first), (psi, phi, second)):
        rest = own(s) + applied(profile, beta, other, s) - density(s)
        total = applied_total(profile, beta, density)
        np.testing.assert_allclose(rest, -total, atol=2e-11 * scale)


def applied_total(profile, beta, log_density):
    rule = profiles.Rule(profile, beta, int(200 + 40 * np.sqrt(beta)))
    return np.log(rule.masses @ np.exp(log_density(rule.nodes)))


@every_profile
def test_equal_marginals_have_equal_potentials(name):
    """φ = ψ → ½(log a - log ρ); the general solver agrees."""
    profile, log_rho, _ = PROFILES[name]
    s, a = inside(profile), tilted(0.3, 0.0)
    phi, psi = limits.bridge_potentials(profile, 100.0, a, a)
    np.testing.assert_array_equal(phi(s), psi(s))
    again = limits.bridge_potentials(profile, 100.0, a, tilted(0.3, 0.0))
    for f in again:
        np.testing.assert_allclose(f(s), phi(s), atol=1e-10)
    rest = [
        limits.bridge_potentials(profile, beta, a, a)[1](s) - 0.5 * (a(s) - log_rho(s))
        for beta in (200.0, 400.0)
    ]
    low, high = (r - r[0] for r in rest)
    assert np.max(np.abs(low)) < 2e-2
    np.testing.assert_allclose(2 * high, low, atol=2e-4)


def test_failures_are_named(monkeypatch):
    profile = PROFILES["circle"][0]
    with pytest.raises(InvalidInputError, match="beta"):
        limits.sinkhorn_potential(profile, 0.0)
    with pytest.raises(NotConvergedError, match="nodes"):
        limits.sinkhorn_potential(profile, 1e9)
    with pytest.raises(NotConvergedError, match="modes"):
        profiles.series(np.abs, (-1.0, 1.0), False)
    monkeypatch.setattr(potentials, "_MOST_STEPS", 5)
    with pytest.raises(NotConvergedError, match="marginals"):
        limits.bridge_potentials(profile, 30.0, tilted(0.3, 0.0), tilted(0.3, np.pi))
    with pytest.raises(NotConvergedError, match="5 steps"):
        limits.sinkhorn_potential(profile, 30.0)


@pytest.mark.parametrize(
    "solve",
    [
        lambda p: potentials.log_mass(p, 30.0),
        lambda p: potentials.sinkhorn_potential(p, 30.0),
        lambda p: potentials.bridge_potentials(p, 30.0, lambda s: 0.3 * s, lambda s: -0.3 * s),
    ],
    ids=["mass", "sinkhorn", "bridge"],
)
@pytest.mark.parametrize(
    ("embedding", "log_density", "error", "words"),
    [
        (("t", "t**2"), "Abs(t-1/3)", QuadratureError, "falls too slowly"),
        (("t", "t**2"), "-log(t)/2", QuadratureError, "falls too slowly"),
        (("1", "2"), "0", QuadratureError, "not finite"),
        (("1/t", "t"), "0", NotConvergedError, "resolve"),
        (("sqrt(t-1/2)", "t"), "0", InvalidInputError, "not finite"),
    ],
)
def test_rough_and_degenerate_profiles_end_in_seconds(solve, embedding, log_density, error, words):
    """A dense problem of 8192 nodes takes minutes."""
    profile = profiles.profile_of(Chart((Coordinate("t", 0, 1),), embedding, log_density))
    start = time.process_time()
    with pytest.raises(error, match=words):
        solve(profile)
    assert time.process_time() - start < 60


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_profiles_of_other_periods(length):
    """An ellipse over another period has the same masses and potentials at the same places."""
    turn, factor = Coordinate("t", 0.5, 0.5 + length, periodic=True), 2 * np.pi / length
    angles = f"{factor!r}*(t - 1/2)"
    slow, plain = (
        profiles.profile_of(Chart((c,), (f"2*cos({a})", f"sin({a})"), f"cos({a})"))
        for c, a in ((turn, angles), (angle("t"), "t"))
    )
    t = np.linspace(0, 2 * np.pi, 13)
    for solve in (potentials.log_mass, potentials.sinkhorn_potential):
        found, expected = solve(slow, 20.0)(0.5 + t / factor), solve(plain, 20.0)(t)
        np.testing.assert_allclose(found, expected, atol=1e-11)
