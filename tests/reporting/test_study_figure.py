"""The figure of a study, read back from its Axes, holds the numbers of the run made by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from convergence.reporting.figure import study_figure


@pytest.fixture(scope="module")
def figure(handmade):
    drawn = study_figure(handmade.run())
    yield drawn
    plt.close(drawn)


def measured(handmade, id, check):
    claim = handmade.STUDY.claim(id)
    batches = handmade.run().batches(claim)[check]
    return claim, [(b.setting, b.values) for b in batches]


def test_errors_over_n_have_intervals_of_the_mean(axes, handmade, figure):
    """r.m.s. over replicates, targets and functions; 1.96 sd/sqrt(R) of the mean square."""
    ax = figure.axes[0]
    found = axes.bars(ax)
    assert len(found) == 2
    for id, rows in zip(("known", "replicates"), found, strict=True):
        (x, y, low, high), (_, data) = rows.T, measured(handmade, id, "joint")
        np.testing.assert_array_equal(x, [s.n for s, _ in data])
        for (_, values), *drawn in zip(data, y, low, high, strict=True):
            squares = ((values - handmade.LIMIT) ** 2).reshape(len(values), -1).mean(axis=1)
            mean, half = squares.mean(), 1.96 * stats.sem(squares)
            ends = [mean, max(mean - half, mean / 1000), mean + half]
            np.testing.assert_allclose(drawn, np.sqrt(ends), rtol=1e-12)


def test_the_curve_has_bias_shift_and_noise(axes, handmade, figure):
    """Only where noise is predicted."""
    (curve, triangle) = axes.free_lines(figure.axes[0])
    claim = handmade.STUDY.claim("known")
    for setting, n, y in zip(claim.schedules["standard"].joint, *curve.get_data(), strict=True):
        shift, sd = 3 * handmade.UNIT / n, handmade.UNIT / np.sqrt(n)
        expected = np.sqrt(np.mean((handmade.BIAS / setting.beta + shift) ** 2 + sd**2))
        assert (n, y) == (setting.n, pytest.approx(expected, rel=1e-12))
    x, y = triangle.get_data()
    assert np.log(y[1] / y[0]) / np.log(x[1] / x[0]) == pytest.approx(-0.5, rel=1e-9)
    assert [text.get_text() for text in figure.axes[0].texts] == ["$N^{-1/2}$"]


def test_the_exact_bias(axes, handmade, figure):
    lines = axes.free_lines(figure.axes[1])
    order = lines.pop()
    assert len(lines) == 3
    for line, size in zip(lines, (1, 1, 0), strict=True):
        betas, bias = line.get_data()
        assert set(handmade.BETAS[:3]) <= set(betas)
        expected = size * np.sqrt(np.mean(handmade.BIAS**2)) / betas
        np.testing.assert_allclose(bias, expected, rtol=1e-9, atol=1e-15)
    x, y = order.get_data()
    assert np.log(y[1] / y[0]) / np.log(x[1] / x[0]) == pytest.approx(-1.0, rel=1e-9)
    assert figure.axes[1].texts[0].get_text() == r"$\beta^{-1}$"


def test_the_measured_bias(axes, handmade, figure):
    """Mean squares less the noise of means; intervals count targets only."""
    ax = figure.axes[1]
    for id, rows in zip(("known", "replicates"), axes.bars(ax), strict=True):
        expected = []
        for check in ("sampling", "joint"):
            for setting, values in measured(handmade, id, check)[1]:
                if id == "known":
                    shift = 3 * handmade.UNIT / setting.n
                    variance = handmade.UNIT**2 / setting.n
                else:
                    shift, variance = 0.0, values.var(axis=0, ddof=1)
                noise = variance / len(values)
                square = np.mean((values.mean(axis=0) - handmade.LIMIT - shift) ** 2 - noise)
                bias = handmade.BIAS / setting.beta
                half = 1.96 * np.sqrt(np.mean(2 * noise**2 + 4 * bias**2 * noise) / 3)
                if square > half:
                    expected.append(np.sqrt([square, square - half, square + half]))
                    expected[-1] = [setting.beta, *expected[-1]]
        assert len(expected) >= 1
        np.testing.assert_allclose(rows, expected, rtol=1e-9)


def test_the_law_of_standardised_errors(handmade, figure):
    ax = figure.axes[2]
    errors = []
    for setting, values in measured(handmade, "known", "sampling")[1]:
        n, beta = setting.n, setting.beta
        center = handmade.LIMIT + handmade.BIAS / beta + 3 * handmade.UNIT / n
        errors.append(((values - center) / handmade.UNIT * np.sqrt(n)).ravel())
    errors = np.concatenate(errors)
    counts = np.histogram(np.clip(errors, -4.45, 4.45), np.linspace(-4.5, 4.5, 46))[0]
    heights = [patch.get_height() for patch in ax.patches]
    np.testing.assert_allclose(heights, counts / len(errors) / 0.2, rtol=1e-9)
    (line,) = ax.lines
    x, y = line.get_data()
    np.testing.assert_allclose(y, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), rtol=1e-12)
    assert ax.get_title("left").startswith(f"{len(errors)} standardised errors")
    shown = f"mean ${errors.mean():.3f}$, variance ${errors.var():.3f}$"
    assert [text.get_text() for text in ax.texts] == [shown]


def test_a_claim_keeps_its_style(axes, handmade, figure):
    """In every panel the colour and marker that the legend gives to its name."""
    handles = figure.legends[0].legend_handles
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [claim.id for claim in handmade.STUDY.claims]
    styles = [(h.get_color(), h.get_marker()) for h in handles]
    assert len(set(styles)) == len(styles)
    for ax in figure.axes[:2]:
        marks = [(c[0].get_color(), c[0].get_marker()) for c in ax.containers]
        assert marks == styles[:2]
    assert axes.free_lines(figure.axes[0])[0].get_color() == styles[0][0]
    colours = [line.get_color() for line in axes.free_lines(figure.axes[1])[:3]]
    assert colours == [styles[0][0], styles[1][0], styles[3][0]]
