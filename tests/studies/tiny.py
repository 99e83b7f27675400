"""A study small enough for tests of running and reporting: one claim, a few cells."""

from dataclasses import replace

from convergence.claims import generator_claim
from convergence.running import Study
from convergence.scores import Distance
from convergence.spaces import Circle
from convergence.verification import Schedule, Setting

circle = Circle(kappa=1.0)
claim = generator_claim(
    "tiny",
    circle,
    Distance(),
    (circle.fourier(1, 0.3), circle.fourier(2, 1.2)),
    statement=r"$S^1$, von Mises",
    source="a test",
    target_count=3,
)
schedule = Schedule(
    betas=claim.schedules["smoke"].betas,
    sampling=(Setting(4000, 30.0, 8),),
    joint=tuple(Setting(n, 20.0 * (n / 2000) ** (2 / 7), 8) for n in (2000, 4000, 8000)),
)
STUDY = Study(
    title="A tiny study",
    claims=(replace(claim, schedules=dict.fromkeys(("smoke", "standard"), schedule)),),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
