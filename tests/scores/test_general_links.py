"""General links: values, one-forms and exactness of expressions and functions; what is refused."""

import pickle

import numpy as np
import pytest
import sympy

from convergence.errors import InvalidInputError
from convergence.kernels import score_sums
from convergence.operators import Component, MarkovOperator, ScoreOperator, generator
from convergence.scores import Distance, GeneralLink, harmonic_link
from convergence.spaces import Circle

RNG = np.random.default_rng(60)
POINTS = Circle(kappa=0.7).sample(90, RNG)
BETA = 12.0
TEXT = "(x0*y1 - x1*y0)*(1 + x0 + y0) + sin(y0*x1**2) - sin(x0*y1**2)"


def by_hand(x, y):
    x0, x1, y0, y1 = x[:, :1], x[:, 1:2], y[:, 0], y[:, 1]
    turned = (x0 * y1 - x1 * y0) * (1 + x0 + y0)
    return turned + np.sin(y0 * x1**2) - np.sin(x0 * y1**2)


def slope_by_hand(x):
    """∂_y at y = x."""
    x0, x1 = x[..., 0], x[..., 1]
    bent = np.cos(x0 * x1**2)
    first = -x1 * (1 + 2 * x0) + bent * x1**2
    return np.stack([first, x0 * (1 + 2 * x0) - 2 * bent * x0 * x1], axis=-1)


LINKS = [GeneralLink(TEXT), GeneralLink(by_hand, slope_by_hand)]


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_values_and_one_form(link):
    x, y = RNG.standard_normal((2, 20, 2))
    np.testing.assert_allclose(link.values(x, y), by_hand(x, y), atol=1e-13)
    np.testing.assert_allclose(link.values(y, x), -by_hand(x, y).T, atol=1e-13)
    np.testing.assert_allclose(link.one_form(x), slope_by_hand(x), atol=1e-13)
    assert link.one_form(x[None]).shape == (1, 20, 2)
    squares = np.sum((x[:, None] - y) ** 2, axis=-1)
    np.testing.assert_allclose(link(x, y, 2.5), by_hand(x, y) - 2.5 * squares, atol=1e-12)
    np.testing.assert_allclose(link.scaled(-2.0).values(x, y), -2 * by_hand(x, y), atol=1e-12)
    np.testing.assert_allclose(link.scaled(-2.0).one_form(x), -2 * slope_by_hand(x), atol=1e-12)


def test_the_one_form_is_the_slope_of_the_link():
    x, step = RNG.standard_normal((5, 3)), 1e-5
    link = GeneralLink("x2*y0*exp(y1) - y2*x0*exp(x1)")
    slopes = []
    for a in range(3):
        there, back = x + step * np.eye(3)[a], x - step * np.eye(3)[a]
        difference = np.diagonal(link.values(x, there) - link.values(x, back))
        slopes.append(difference / (2 * step))
    np.testing.assert_allclose(link.one_form(x), np.transpose(slopes), rtol=1e-8, atol=1e-8)


def test_a_bilinear_link_is_that_of_a_distance():
    score, link = Distance(link=harmonic_link([0.8])), GeneralLink("0.8*(x0*y1 - x1*y0)")
    f = POINTS[:, 0] * POINTS[:, 1]
    one, other = (generator(POINTS, f, s, BETA, 0.7, self_loops=True) for s in (score, link))
    np.testing.assert_allclose(other, one, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(link.one_form(POINTS), score.one_form(POINTS), atol=1e-15)


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_sums_are_those_of_the_plain_matrix(link):
    squares = np.sum((POINTS[:, None] - POINTS) ** 2, axis=-1)
    kernel = np.exp(-BETA * squares + by_hand(POINTS, POINTS))
    p = kernel / kernel.sum(axis=1, keepdims=True)
    operator = ScoreOperator(link, POINTS, POINTS, BETA)
    np.testing.assert_allclose(operator.toarray(), p, rtol=1e-10, atol=1e-15)
    log_mass, _ = score_sums(link, POINTS, POINTS, BETA, block_size=32)
    np.testing.assert_allclose(log_mass, np.log(kernel.sum(axis=1)), rtol=1e-12)


def test_exact_links_are_doob_transforms():
    link = GeneralLink("log(2 + y0) + y1**3 - log(2 + x0) - x1**3")
    x0, x1 = sympy.symbols("x:2", real=True)
    difference = link.exact_weight - sympy.log(2 + x0) - x1**3
    assert sympy.simplify(difference).is_constant()
    w = np.log(2 + POINTS[:, 0]) + POINTS[:, 1] ** 3
    doob = MarkovOperator([Component(POINTS, POINTS, w)], BETA).toarray()
    found = ScoreOperator(link, POINTS, POINTS, BETA).toarray()
    np.testing.assert_allclose(found, doob, rtol=1e-11, atol=1e-16)
    plain = MarkovOperator([Component(POINTS, POINTS)], BETA).toarray()
    assert np.max(np.abs(found - plain)) > 0.05
    # a pole at the origin
    assert GeneralLink("1/y0 - 1/x0").exact_weight == 1 / x0
    # a function of x + y times an exact link is none
    for text in ("x0*y1 - x1*y0", "(y0 - x0)*(x0 + y0)**2", TEXT):
        assert GeneralLink(text).exact_weight is None
    assert GeneralLink(by_hand, slope_by_hand).exact_weight is None
    assert GeneralLink("y0**2 - x0**2").exact_weight == x0**2


def test_weights_are_real_and_have_no_constant():
    x0, x1 = sympy.symbols("x:2", real=True)
    for text, weight in {
        "log(2 + y0) + y1**3 - log(2 + x0) - x1**3": sympy.log(2 + x0) + x1**3,
        "log(y0 - 2) - log(x0 - 2)": sympy.log(x0 - 2),  # a(0, y) holds iπ
        "sqrt(y0 - 2) - sqrt(x0 - 2)": sympy.sqrt(x0 - 2),
        "(y1 + 3)**2/2 - (x1 + 3)**2/2": x1**2 / 2 + 3 * x1,
    }.items():
        assert GeneralLink(text).exact_weight == weight, text
    # log(1 - x0/2) is real on one side of 2 alone
    assert GeneralLink("log((y0 - 2)/(x0 - 2))").exact_weight is None


def test_every_pair_must_be_finite_and_pairs_all_over_a_block_antisymmetric():
    points = RNG.standard_normal((300, 2))

    def spoilt(found, wrong):
        def link(x, y):
            value = x[:, :1] * y[:, 1] - x[:, 1:2] * y[:, 0]
            return np.where(wrong(x)[:, None] & wrong(y), found(value), value)

        return GeneralLink(link, lambda x: np.stack([-x[..., 1], x[..., 0]], axis=-1))

    one = spoilt(lambda a: a + np.nan, lambda x: x[:, 0] == points[137, 0])
    with pytest.raises(InvalidInputError, match="not finite"):
        one.values(points, points)
    ordered = points[np.argsort(points[:, 0])]
    far = spoilt(lambda a: np.abs(a), lambda x: x[:, 0] > ordered[200, 0])
    far.values(ordered[:200], ordered[:200])
    with pytest.raises(InvalidInputError, match="not antisymmetric"):
        far.values(ordered, ordered)


def test_single_precision_is_cast():
    x, y = RNG.standard_normal((2, 20, 2)).astype(np.float32)
    for link in LINKS:
        assert link.values(x, y).dtype == link(x, y, 3.0).dtype == float
        exact = by_hand(x.astype(float), y.astype(float))
        np.testing.assert_allclose(link.values(x, y), exact, atol=1e-13)


def test_the_form_of_a_function_is_held_against_it():
    for wrong in (lambda x: -slope_by_hand(x), lambda x: 1.001 * slope_by_hand(x)):
        with pytest.raises(InvalidInputError, match="not ∂_y a"):
            GeneralLink(by_hand, wrong).one_form(POINTS)
    with pytest.raises(InvalidInputError, match="shape"):
        GeneralLink(by_hand, lambda x: x[..., 0]).one_form(POINTS)
    fast = GeneralLink(
        lambda x, y: np.sin(100 * (y[:, 0] - x[:, :1])), lambda x: x * [0, 0] + [100, 0]
    )
    np.testing.assert_array_equal(fast.one_form(POINTS)[:, 0], 100)


def test_plain_data():
    link = GeneralLink(TEXT)
    assert pickle.loads(pickle.dumps(link)) == link
    assert hash(link) == hash(GeneralLink(TEXT))
    assert repr(link) == f"GeneralLink({TEXT!r})"
    assert "by_hand" in repr(LINKS[1])
    assert " at 0x" not in repr(LINKS[1])


def test_what_is_no_link_is_refused():
    for text in ("x0*y1", "x0*y1 + x1*y0", "y0**2 - x0**3", "1 + y0 - x0"):
        with pytest.raises(InvalidInputError, match="not antisymmetric"):
            GeneralLink(text)
    for text in ("z0*y1 - x1", "x0*(", "y0 - x0 + q"):
        with pytest.raises(InvalidInputError, match="link"):
            GeneralLink(text)
    symmetric = GeneralLink(lambda x, y: x @ y.T, lambda x: x)
    with pytest.raises(InvalidInputError, match="not antisymmetric"):
        generator(POINTS, POINTS, symmetric, BETA, self_loops=True)
    shapeless = GeneralLink(lambda x, y: np.zeros(3), lambda x: x)
    with pytest.raises(InvalidInputError, match="shape"):
        shapeless.values(POINTS, POINTS)
    with pytest.raises(InvalidInputError, match="not finite"):
        GeneralLink("log(y0) - log(x0)").values(POINTS[:5], -POINTS[:5])
    with pytest.raises(InvalidInputError, match="dimension 3"):
        GeneralLink("x0*y2 - x2*y0").values(POINTS, POINTS)
    with pytest.raises(InvalidInputError, match="needs form"):
        GeneralLink(by_hand)
    with pytest.raises(InvalidInputError, match="leave form out"):
        GeneralLink("y0 - x0", slope_by_hand)
