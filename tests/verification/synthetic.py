"""A claim with known law and no kernel: estimates are expectation + shift + sd · N(0, 1)."""

from dataclasses import replace

import numpy as np

from convergence.verification import Batch, Claim, Fault, Schedule, Setting

LIMIT = np.array([[1.0, 2.0], [-1.5, 1.0], [0.5, -2.0], [1.2, 0.3]])
BIAS = np.array([[2.0, -3.0], [1.0, 4.0], [-2.0, 1.0], [3.0, -1.0]])
SIZES = (10_000, 40_000, 160_000, 640_000)


def beta_of(n):
    return 20.0 * (n / SIZES[0]) ** (2 / 7)


class Cloud:
    dim = 1

    def sample(self, n, rng):
        return rng.standard_normal((n, 1))


def expectation(beta):
    return LIMIT + BIAS / beta + BIAS**2 / beta**2


def sampling_error(n, beta):
    sd = np.full(LIMIT.shape, 1.5 * beta**0.75 / np.sqrt(n))
    return 0.5 * sd, sd


def claim(**changes):
    schedule = Schedule(
        betas=tuple(2.0**k for k in range(5, 13)),
        sampling=(Setting(SIZES[1], beta_of(SIZES[1]), 64),),
        joint=tuple(Setting(n, beta_of(n), 24) for n in SIZES),
    )
    right = Claim(
        id="synthetic",
        statement="a synthetic claim",
        source="none",
        space=Cloud(),
        functions=("f", "g"),
        estimate=lambda points, beta: expectation(beta),
        expectation=expectation,
        limit=LIMIT,
        schedules={"standard": schedule},
        sampling_error=sampling_error,
        effective_degree=lambda n, beta: np.full(len(LIMIT), n / np.sqrt(beta)),
        slope=-2 / 7,
        faults=(Fault("5 % too large", lambda beta: 1.05 * expectation(beta)),),
    )
    return replace(right, **changes)


def draw(rng, schedule, factor=1.0, spread=1.0, shifted=True):
    """Batches under the law, with the mean scaled by `factor` and the errors by `spread`."""

    def batch(setting):
        shift, sd = sampling_error(setting.n, setting.beta)
        shift = shift * shifted
        noise = rng.standard_normal((setting.replicates, *LIMIT.shape))
        return Batch(setting, factor * expectation(setting.beta) + shift + spread * sd * noise)

    return {
        "sampling": [batch(s) for s in schedule.sampling],
        "joint": [batch(s) for s in schedule.joint],
    }
