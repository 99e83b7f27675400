"""The Markov operator on a device: the CPU's numbers, and functions that stay where they are."""

import numpy as np
import pytest

from convergence.backend import use_device
from convergence.errors import InvalidInputError
from convergence.operators import Component, MarkovOperator, eigenpairs, stationary
from convergence.scores import Distance

BETA = 6.0
rng = np.random.default_rng(12)
POINTS = rng.normal(size=(300, 3))
POINTS /= np.linalg.norm(POINTS, axis=1, keepdims=True)
WEIGHTS = rng.uniform(-1, 1, 300)
SHARE = rng.random(300)
VALUES = rng.normal(size=(300, 2))


class DeviceArray(np.ndarray):
    """What an array on a device is known by."""

    __cuda_array_interface__ = ()


def operators(self_loops=True):
    single = [Component(POINTS, POINTS, WEIGHTS)]
    mixture = [
        Component(POINTS, POINTS, WEIGHTS, SHARE),
        Component(-POINTS, POINTS, None, 1 - SHARE),
    ]
    return [MarkovOperator(c, BETA, self_loops=self_loops) for c in (single, mixture)]


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("which", [0, 1])
def test_products_are_those_of_the_cpu(device, which, self_loops):
    cpu = operators(self_loops)[which]
    with use_device("cuda"):
        cuda = operators(self_loops)[which]
    assert (cpu.device, cuda.device) == ("cpu", "cuda")
    for of in (
        lambda p: p @ VALUES,
        lambda p: p @ VALUES[:, 0],
        lambda p: p.T @ VALUES,
        lambda p: p @ (VALUES[:, 0] + 1j * VALUES[:, 1]),
        lambda p: p.generator(VALUES),
        lambda p: p.carre_du_champ(VALUES[:, 0], VALUES[:, 1]),
        lambda p: p.flux(WEIGHTS) @ VALUES,
        lambda p: p.log_degrees,
    ):
        np.testing.assert_allclose(of(cuda), of(cpu), rtol=1e-11, atol=1e-12)


def test_functions_stay_on_the_device(device, cupyx, monkeypatch):
    with use_device("cuda"):
        operator = operators()[1]
    there = VALUES.view(DeviceArray)
    expected = [f(operators()[1]) for f in (lambda p: p @ VALUES, lambda p: p.T @ VALUES)]
    on_device = operator.on_device
    assert isinstance(on_device, cupyx.LinearOperator)
    _ = operator._backward  # sorting is done on the host
    moved = []
    device.cupy.asarray = np.asanyarray  # keeps what is on the device there, as CuPy does
    device.cupy.asnumpy = lambda array: moved.append(array) or np.array(array)
    operator.carre_du_champ(there[:, 0], there[:, 1])
    to_host = MarkovOperator.on_host
    with monkeypatch.context() as patch:
        patch.setattr(MarkovOperator, "on_host", lambda *a: moved.append(a) or to_host(*a))
        found = [on_device.matmat(there), on_device.rmatmat(there)]
        found.append(on_device.matvec(there[:, 0]))
        operator.generator(there)
    assert not moved
    for one, other in zip(found, [*expected, expected[0][:, 0]], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    assert type(operator.on_host(there)) is np.ndarray
    assert len(moved) == 1


def test_the_points_are_sorted_once(device, monkeypatch):
    from convergence.kernels import cuda

    with use_device("cuda"):
        operator = operators()[0]
    before = []
    sort = cuda._in_tiles
    monkeypatch.setattr(cuda, "_in_tiles", lambda *a: before.append(a) or sort(*a))
    for _ in range(3):
        _ = operator @ VALUES
    assert len(before) == 1


def test_spectrum_and_law_on_the_device(device):
    cpu = operators()[0]
    with use_device("cuda"):
        cuda = operators()[0]
    one, other = eigenpairs(cpu, 5), eigenpairs(cuda, 5)
    assert other.solver == "block Lanczos"
    np.testing.assert_allclose(other.values, one.values, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(stationary(cuda).law, stationary(cpu).law, rtol=1e-11)


def test_points_that_are_on_the_device(device):
    with use_device("cuda"):
        operator = MarkovOperator.of_sample(
            POINTS.view(DeviceArray), Distance((0.3, 0.0, 0.1)), BETA, self_loops=True
        )
    cpu = MarkovOperator.of_sample(POINTS, Distance((0.3, 0.0, 0.1)), BETA, self_loops=True)
    np.testing.assert_allclose(operator @ VALUES, cpu @ VALUES, rtol=1e-11, atol=1e-12)


def test_an_operator_of_the_cpu_is_not_on_a_device():
    with pytest.raises(InvalidInputError, match="use_device"):
        _ = operators()[0].on_device
