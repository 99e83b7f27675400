"""A study without any space: its estimates are given numbers, so that every result is known.

One claim of each kind: known errors with an undecided fault and a wrong second function; errors of
replicates with a wrong drift; exact identities, one of them broken; a check that decides nothing.
"""

import numpy as np

from convergence.running import Run, Study
from convergence.running.cells import Result, cells_of
from convergence.verification import Claim, Fault, Schedule, Setting, study_level

BETAS = tuple(2.0**k for k in range(4, 12))
LIMIT = np.array([[1.0, 2.0], [-1.5, 1.0], [0.5, -2.0]])
BIAS = np.array([[2.0, -3.0], [1.0, 4.0], [-2.0, 1.0]])
DRIFT = np.array([[0.4, -0.3], [0.2, 0.5], [-0.6, 0.1]])
CURVATURE = np.array([[0.1, 0.7], [0.9, -0.2], [0.3, 0.5]])
UNIT = 4.0 + np.arange(6.0).reshape(3, 2)  # sd sqrt(N)
RATE, SIZES = 0.25, (1_000, 4_000, 16_000)
WRONG_DRIFT = 0.8
SPREAD = 1.6  # of the second function's errors
TOLERANCE = 1e-12


class Nowhere:
    dim = 1

    def sample(self, n, rng):
        raise AssertionError("nothing is drawn here")


def expectation(beta):
    return LIMIT + BIAS / beta


def sampling_error(n, beta):
    return 3 * UNIT / n, UNIT * n**-0.5


def drift(beta):
    return DRIFT


def curvature(beta):
    return CURVATURE


def scaled(factor):
    return lambda beta: factor * expectation(beta)


def claim(id, functions, schedule, checks, **options):
    return Claim(
        id=id,
        source="by hand",
        space=Nowhere(),
        functions=functions,
        estimate=lambda points, beta: np.zeros((3, 2)),
        schedules={"standard": schedule},
        checks=checks,
        **({"limit": LIMIT, "expectation": expectation} | options),
    )


CHECKS = ("bias", "sampling", "joint", "faults")
STUDY = Study(
    "By hand: 100 % of A_1 & #2",
    (
        claim(
            "known", ("f", "g"),
            Schedule(
                betas=BETAS,
                sampling=(Setting(10_000, 64.0, 12), Setting(40_000, 32.0, 9)),
                joint=tuple(Setting(n, 50.0, 10) for n in SIZES),
            ),
            CHECKS,
            statement="$f_1 + g$, 5 % of A_1 & #2", sampling_error=sampling_error, slope=-0.5,
            effective_degree=lambda n, beta: np.array([2.0, 3.0, 4.0]) * n**0.75,
            parts={"drift": drift},
            faults=(
                Fault("5 % too large", scaled(1.05)),
                Fault("0.01 % too large", scaled(1.0001)),
                Fault("sign", scaled(-1.0)),
            ),
        ),
        claim(
            "replicates", ("f", "g"),
            Schedule(
                betas=BETAS,
                sampling=(Setting(10_000, 64.0, 12),),
                joint=tuple(Setting(n, 20 * (n / 1_000) ** RATE, 9) for n in SIZES),
            ),
            CHECKS,
            statement="the drift 20 % off", slope=-RATE, slope_is_bound=True,
            error_weights=lambda n, beta: sampling_error(n, beta)[1],
            parts={"drift": drift, "curvature": curvature},
            faults=(Fault("sign", scaled(-1.0)), Fault("half", scaled(0.5))),
        ),
        claim(
            "identity", ("sum", "broken", "transposed"),
            Schedule(identity=(Setting(10, 1.0, 2), Setting(20, 4.0, 2))),
            ("identity", "faults"),
            statement="sums", limit=np.zeros((1, 3)), expectation=lambda beta: np.zeros((1, 3)),
            tolerance=TOLERANCE, wrong=("transposed",), refutes="that sums are equal",
        ),
        claim(
            "empty", ("f", "g"), Schedule(betas=BETAS), ("bias", "sampling"),
            statement="nothing measured", bias_order=None, expectation=lambda beta: LIMIT,
        ),
    ),
)  # fmt: skip

RESIDUALS = {
    (10, 0): [2e-13, 1e-15, 0.5], (10, 1): [-3e-13, 2e-15, 0.25],
    (20, 0): [1e-13, -4e-12, 0.75], (20, 1): [0.0, 1e-14, -0.3],
}  # fmt: skip


def values(cell):
    """The estimate of a cell: its expectation, its noise and what is wrong."""
    if cell.claim == "identity":
        return np.array([RESIDUALS[cell.n, cell.replicate]])
    rng = np.random.default_rng([len(cell.claim), len(cell.check), cell.n, cell.replicate])
    shift, sd = sampling_error(cell.n, cell.beta)
    noise = sd * rng.standard_normal((3, 2))
    if cell.claim == "known":
        return expectation(cell.beta) + shift + noise * [1.0, SPREAD]
    return expectation(cell.beta) + noise - (1 - WRONG_DRIFT) * DRIFT * (cell.check == "sampling")


def run():
    """All cells, judged as at the standard preset."""
    results = {}
    for one in STUDY.claims:
        for k, cell in enumerate(cells_of("handmade", one, one.schedules["standard"])):
            results[cell] = Result(values(cell), 0.5 + k)
    record = {"configuration": {"study": "handmade", "preset": "standard"}}
    level = study_level(STUDY.claims, "standard")
    return Run("handmade", STUDY, "standard", level, results, record)
