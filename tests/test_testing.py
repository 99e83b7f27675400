"""The assertions that users import: they pass what is right and nothing else."""

import subprocess
import sys

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.scores import Distance
from convergence.spaces import Circle, Ellipse
from convergence.testing import assert_limit, assert_rate_at_least, assert_standard_normal

CIRCLE = Circle(kappa=1.3)
F = [CIRCLE.fourier(2, 0.4)]
OPTIONS = {"n": 20_000, "beta": 50.0, "replicates": 64}


def diffusion_map(points, f, targets, beta, scale=4.0, drift=True):
    weights = np.exp(-beta * np.sum((targets[:, None] - points) ** 2, axis=-1))
    if not drift:  # divide the density out, as α = 1 does
        weights = weights / np.exp(CIRCLE.log_density(points))
    return scale * beta * (f(targets) - weights @ f(points) / weights.sum(axis=1))


def test_the_right_operator_passes():
    assert_limit(diffusion_map, CIRCLE, Distance(), F, **OPTIONS)


def test_on_a_chart_the_kernel_acts_on_features():
    ellipse = Ellipse(2, 1, "cos(u - 1)", "coordinates")

    def on_features(points, f, targets, beta, scale=4.0):
        x, y = ellipse.features(targets), ellipse.features(points)
        weights = np.exp(-beta * np.sum((x[:, None] - y) ** 2, axis=-1))
        return scale * beta * (f(targets) - weights @ f(points) / weights.sum(axis=1))

    def wrong(points, f, targets, beta):
        return on_features(points, f, targets, beta, scale=2.0)

    options = OPTIONS | {"beta": 20.0, "target_count": 3}
    problem = ellipse, Distance(), [ellipse.function("sin(u + 2/5)")]
    assert_limit(on_features, *problem, **options)
    with pytest.raises(AssertionError, match="FAIL mean"):
        assert_limit(wrong, *problem, **options)


@pytest.mark.parametrize(
    "fault", [{"scale": 2.0}, {"scale": 4.4}, {"scale": -4.0}, {"drift": False}]
)
def test_wrong_operators_fail(fault):
    def wrong(points, f, targets, beta):
        return diffusion_map(points, f, targets, beta, **fault)

    with pytest.raises(AssertionError, match="FAIL mean"):
        assert_limit(wrong, CIRCLE, Distance(), F, **OPTIONS)


def test_too_small_a_sample_does_not_pass():
    few = OPTIONS | {"replicates": 8}
    with pytest.raises(AssertionError, match=r"inconclusive.*error of the operator below"):
        assert_limit(diffusion_map, CIRCLE, Distance(), F, **few, sees=0.005)
    with pytest.raises(AssertionError, match=r"INCONCLUSIVE.*effective degree"):
        assert_limit(diffusion_map, CIRCLE, Distance(), F, n=500, beta=50.0)


def test_standard_normal():
    errors = np.random.default_rng(0).standard_normal((200, 5))
    assert_standard_normal(errors)
    for wrong in (errors + 0.3 * np.array([1, -1, 1, -1, 0]), 1.3 * errors, 0.75 * errors):
        with pytest.raises(AssertionError, match=r"mean|variance"):
            assert_standard_normal(wrong)
    with pytest.raises(InvalidInputError):
        assert_standard_normal(errors[0])


def test_rate_at_least():
    rng = np.random.default_rng(0)
    n = (1000, 4000, 16000, 64000)

    def errors(rate):
        return [size**-rate * rng.standard_normal((50, 4)) for size in n]

    assert_rate_at_least(n, errors(0.25), 0.25)
    assert_rate_at_least(n, errors(0.5), 0.25)
    with pytest.raises(AssertionError, match="more slowly"):
        assert_rate_at_least(n, errors(0.15), 0.25)
    with pytest.raises(AssertionError, match="inconclusive"):
        assert_rate_at_least(n, errors(0.25), 0.25, resolution=0.001)
    with pytest.raises(InvalidInputError):
        assert_rate_at_least(n[:2], errors(0.25)[:2], 0.25)


UNDER_O = """
import numpy as np
from convergence.scores import Distance
from convergence.spaces import Circle
from convergence.testing import assert_limit, assert_rate_at_least, assert_standard_normal

assert False, "an assert statement was run"
circle, noise = Circle(), np.random.default_rng(0).standard_normal((50, 4))
problem = circle, Distance(), [circle.fourier(1, 0.0)]
options = {"n": 4000, "beta": 8.0, "replicates": 8}

def right(points, f, targets, beta):
    weights = np.exp(-beta * np.sum((targets[:, None] - points) ** 2, axis=-1))
    return 4 * beta * (f(targets) - weights @ f(points) / weights.sum(axis=1))

def wrong(*arguments):
    return right(*arguments) / 2

for call in (
    lambda: assert_standard_normal(noise + 100),
    lambda: assert_standard_normal(10 * (noise - noise.mean(axis=0))),
    lambda: assert_rate_at_least((100, 1000, 10000), 3 * [noise], 0.5),
    lambda: assert_rate_at_least((100, 200, 400), 3 * [noise], 0.0, resolution=1e-6),
    lambda: assert_limit(wrong, *problem, **options),
    lambda: assert_limit(right, *problem, **options, sees=1e-9),
):
    try:
        call()
        print("nothing")
    except AssertionError as error:
        print(error.args[0].splitlines()[0])
"""


def test_assertions_stand_without_asserts():
    """Under python -O, which takes `assert` statements out, each still raises."""
    done = subprocess.run(
        [sys.executable, "-O", "-c", UNDER_O], capture_output=True, text=True, check=True
    )
    said = done.stdout.splitlines()
    expected = ("means differ", "variance", "errors fall", "inconclusive", "FAIL mean", "inconclus")
    assert len(said) == len(expected)
    for line, start in zip(said, expected, strict=True):
        assert line.startswith(start)
