"""The figure of exact identities shows every residual where it lies."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from convergence.claims import identity_claim
from convergence.reporting.identity_figure import identity_figure, of_identities
from convergence.running import Run, Study
from convergence.running.cells import Result, cells_of
from convergence.spaces import Gaussian

RESIDUALS = {"small": 2e-16, "zero": 0.0, "wrong": 0.3}


def study_run():
    claim = identity_claim(
        "sums", Gaussian(((1.0,),)), lambda x, factor: RESIDUALS, ("small", "zero"), ("wrong",),
        statement="", source="", condition=10.0, factors=(1.0, 5.0),
    )  # fmt: skip
    study = Study("Sums", (claim, replace(claim, id="again")))
    results = {}
    for c in study.claims:
        for cell in cells_of("sums", c, c.schedules["smoke"]):
            results[cell] = Result(c.estimate(np.zeros((4, 1)), cell.beta), 0.0)
    return Run("sums", study, "smoke", 1e-4, results, {})


def test_every_identity_is_marked_at_its_residual():
    run = study_run()
    assert of_identities(run)
    figure = identity_figure(run)
    assert len(figure.axes) == 2
    tolerance = run.study.claims[0].tolerance
    for ax, id in zip(figure.axes, ("sums", "again"), strict=True):
        assert [text.get_text() for text in ax.texts] == [id]
        assert [tick.get_text() for tick in ax.get_yticklabels()] == list(RESIDUALS)
        marks = {
            float(line.get_ydata()[0]): (line.get_xdata()[0], line.get_marker())
            for line in ax.lines
            if line.get_marker() in ("o", "x")
        }
        assert marks[1.0] == (pytest.approx(2e-16 / tolerance), "o")
        assert marks[2.0] == (1e-4, "o")  # a zero has a place on a logarithmic scale
        assert marks[3.0] == (pytest.approx(0.3 / tolerance), "x")
    plt.close(figure)
