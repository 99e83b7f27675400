"""The price of a component: P f of a mixture against P f of its local kernel, in one run.

Queries equal keys on the sphere S², uniform, about a thousand keys within β d² <= 36 of each. A
bond of the local width costs as much as the local kernel; a wide jump law, whose kernel sees many
more keys than the local one, costs in proportion to them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from convergence.operators import MarkovOperator
from convergence.scores import Distance, GaussianScore, Jump, Mixture
from convergence.spaces import Sphere

SPHERE = Sphere(2)
SIGHT, NEAR = 36.0, 1000.0
OPPOSITE = tuple(map(tuple, -np.eye(3)))
HALF_TURN = tuple(map(tuple, np.diag([-1.0, -1.0, 1.0])))


def mixture(*jumps: Jump) -> Mixture:
    return Mixture(SPHERE, Distance(), jumps)


def scores(beta: float) -> dict[str, GaussianScore]:
    """By name: the local kernel, bonds of its width, and a law of twice the width."""
    return {
        "local kernel": Distance(),
        "one bond": mixture(Jump(1.0, OPPOSITE)),
        "two bonds": mixture(Jump(1.0, OPPOSITE), Jump(1.0, HALF_TURN)),
        "one law twice as wide": mixture(Jump(1.0, OPPOSITE, beta=beta / 4)),
    }


def seconds(operator: MarkovOperator, f: np.ndarray, repeats: int) -> list[float]:
    """Seconds of several products after one that sorts the points."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        operator @ f
        times.append(time.perf_counter() - start)
    return times[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks"))
    options = parser.parse_args()
    rows = []
    for n in options.sizes:
        points = SPHERE.sample(n, np.random.default_rng(n))
        beta = SIGHT * n / (4 * NEAR)  # a cap of squared radius 36/β holds NEAR points
        f = np.cos(3 * points[:, 0])
        operators = {
            name: MarkovOperator.of_sample(points, score, beta, self_loops=True)
            for name, score in scores(beta).items()
        }
        times = {name: seconds(p, f, options.repeats) for name, p in operators.items()}
        unit = np.median(times["local kernel"])
        for name, found in times.items():
            ratio = np.array(found) / unit
            rows.append((n, name, np.median(ratio), np.min(ratio), np.max(ratio)))
    table = pd.DataFrame(rows, columns=["n", "operator", "ratio", "lowest", "highest"])
    print(table.to_string(index=False, float_format="%.3g"))
    options.output.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.output / "components.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
