"""Functions on the sample: shapes, number types, shifts; and rows that see no other point."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError, NoMassError
from convergence.operators import (
    Component,
    MagneticOperator,
    MarkovOperator,
    bilinear_phase,
    coifman_lafon,
    dirichlet_parts,
    generator,
    head_operator,
    log_matrix,
    stationary,
)
from convergence.scores import Distance, Head, IndefiniteHead, Jump, Mixture
from convergence.spaces import Circle, Sphere

rng = np.random.default_rng(11)
POINTS = np.round(Sphere(2).sample(200, rng) * 2**20) / 2**20
OPERATOR = MarkovOperator.of_sample(POINTS, Distance(), 20.0, self_loops=True)
P = OPERATOR.toarray()
F, G = POINTS[:, 0], POINTS[:, 1] * POINTS[:, 2]


def by_definition(f, g):
    f, g = np.asarray(f, dtype=float), np.asarray(g, dtype=float)
    steps = (f[None, :] - f[:, None]) * (g[None, :] - g[:, None])
    return 2 * OPERATOR.beta * np.sum(P * steps, axis=1)


@pytest.mark.parametrize("shift", [0.0, 1.0, -3e3, 1e8])
def test_the_carre_du_champ_does_not_see_shifts(shift):
    """f + c has the Γ of f; the points are multiples of 2^-20, so that f + 10⁸ is exact."""
    for f, g in ((F, F), (F, np.round(G * 2**20) / 2**20)):
        expected = by_definition(f, g)
        for found in (
            OPERATOR.carre_du_champ(f + shift, g),
            OPERATOR.carre_du_champ(g, f + shift),
            OPERATOR.carre_du_champ(f + shift, g - 2 * shift),
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * 2 * OPERATOR.beta)
    assert np.min(OPERATOR.carre_du_champ(F + shift, F + shift)) > 0


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.float16, np.float32, bool, object]
)
def test_products_are_formed_in_float64(dtype):
    f = np.round(100 + 27 * POINTS[:, 0])
    f = (f > 100 if dtype is bool else f).astype(dtype)
    plain = np.asarray(f, dtype=float)
    np.testing.assert_allclose(
        OPERATOR.carre_du_champ(f, f), by_definition(plain, plain), rtol=1e-11, atol=1e-11
    )
    np.testing.assert_array_equal(OPERATOR.generator(f), OPERATOR.generator(plain))
    np.testing.assert_array_equal(dirichlet_parts(OPERATOR, f), dirichlet_parts(OPERATOR, plain))
    turned = MagneticOperator(OPERATOR, bilinear_phase(np.cross(np.eye(3), [0.1, 0.2, 0.3])))
    np.testing.assert_array_equal(turned.generator(f), turned.generator(plain))


def test_values_have_one_row_a_point():
    n = len(POINTS)
    columns = np.stack([F, G], axis=1)
    np.testing.assert_allclose(
        OPERATOR.generator(columns), 4 * OPERATOR.beta * (columns - P @ columns), atol=1e-11
    )
    for wrong in (columns.T, np.tile(F, 2), F[:-1], columns[:, :, None], np.float64(1.0)):
        with pytest.raises(InvalidInputError, match=rf"values need shape \({n},\) or \({n}, F\)"):
            OPERATOR.generator(wrong)
        for f, g in ((wrong, F), (F, wrong)):
            with pytest.raises(InvalidInputError, match=rf"need shape \({n},\), not"):
                OPERATOR.carre_du_champ(f, g)
    with pytest.raises(InvalidInputError, match="one column a function"):
        OPERATOR.differences(F, F)
    with pytest.raises(InvalidInputError, match="law"):
        OPERATOR.flux(F[:-1])


def test_an_operator_keeps_its_own_arrays():
    points, weights, share = POINTS[:30].copy(), F[:30].copy(), np.ones(30)
    operator = MarkovOperator([Component(points, points, weights, share)], 20.0)
    assert operator.components_[0].queries is operator.components_[0].keys
    before = operator.toarray()
    for array in (points, weights, share):
        array *= 3
    np.testing.assert_array_equal(operator.toarray(), before)
    np.testing.assert_array_equal(np.exp(log_matrix(operator)), np.exp(log_matrix(operator)))


FAR = 1e3 * np.random.default_rng(12).normal(size=(12, 2))
NEAR = np.concatenate([np.zeros((5, 2)), np.eye(2), [[60.0, 0.0], [0.0, 80.0]]])


def test_lonely_rows_are_named_by_every_way_in():
    """Without self-loops nothing walks to the nearest point; generator and operator agree."""
    for points, rows in ((FAR, range(12)), (NEAR, (7, 8))):
        walk = MarkovOperator.of_sample(points, Distance(), 1.0, self_loops=False)
        given = MarkovOperator([Component(points, points)], 1.0, self_loops=False)
        f, message = points[:, 0], f"{len(rows)} of {len(points)} rows .*rows {rows[0]}, {rows[1]}"
        for use in (
            lambda p=points, f=f: generator(p, f, Distance(), 1.0, self_loops=False),
            lambda p=points: coifman_lafon(p, 1.0, 1.0, self_loops=False),
            lambda w=walk, f=f: w @ f,
            lambda w=walk, f=f: w.T @ f,
            lambda w=walk, f=f: w.generator(f),
            lambda w=given, f=f: w.carre_du_champ(f, f),
            lambda w=given: log_matrix(w),
            lambda w=given: stationary(w),
        ):
            with pytest.raises(NoMassError, match=message):
                use()
        for operator in (walk, given):
            np.testing.assert_array_equal(operator.lonely_rows(), list(rows))


def test_with_self_loops_a_lonely_row_stays_where_it_is():
    operator = MarkovOperator.of_sample(NEAR, Distance(), 1.0, self_loops=True)
    np.testing.assert_array_equal(operator.lonely_rows(), [7, 8])
    found = operator.generator(NEAR)
    assert np.all(found[7:] == 0)
    assert not np.any(np.signbit(found[7:]))
    assert np.all(operator.toarray()[7:] == np.eye(9)[7:])
    np.testing.assert_array_equal(generator(NEAR, NEAR, Distance(), 1.0, self_loops=True), found)


def test_the_last_key_within_reach_counts():
    """exp(-708) is the smallest normal float64; heavier keys reach as far as they do alone."""
    for square, lonely in ((700.0, []), (715.0, [0, 1])):
        pair = np.array([[0.0], [np.sqrt(square)]])
        operator = MarkovOperator.of_sample(pair, Distance(), 1.0, self_loops=False)
        np.testing.assert_array_equal(operator.lonely_rows(), lonely)
        heavy = MarkovOperator([Component(pair, pair, np.array([-90.0, -90.0]))], 1.0)
        np.testing.assert_array_equal(heavy.lonely_rows(), lonely)
        targets = MarkovOperator([Component(pair[:1], pair[[1, 1]])], 1.0)
        np.testing.assert_array_equal(targets.lonely_rows(), lonely[:1])


def test_rows_without_any_key_are_lonely():
    """A score may be of any size: only masked rows are; and the weights may all be zero."""
    head = Head(*(40 * np.random.default_rng(1).normal(size=(2, 9, 3))))
    assert len(head_operator(head, self_loops=False).lonely_rows()) == 0
    assert len(head_operator(Head(head.queries, head.keys, "DMAP")).lonely_rows()) == 0
    np.testing.assert_array_equal(head_operator(head, causal=True).lonely_rows(), [0])
    nothing = MarkovOperator([Component(NEAR, NEAR, np.full(9, -np.inf))], 1.0)
    np.testing.assert_array_equal(nothing.lonely_rows(), np.arange(9))
    with pytest.raises(NoMassError, match="9 of 9 rows"):
        nothing @ np.ones(9)


@pytest.mark.parametrize("beta", [50.0, 1e5])
def test_reach_is_that_of_the_local_kernel(beta):
    """Where a jump leads nowhere, or the Gaussian form of a head is small at x itself."""
    circle = Circle()
    points = circle.at(np.linspace(0, 1.5, 400))
    for score in (
        Mixture(circle, Distance(), (Jump(1.0, ((-1, 0), (0, -1))),)),
        IndefiniteHead(1.0, 0.2, 1.5),
    ):
        operator = MarkovOperator.of_sample(points, score, beta, self_loops=True)
        assert len(operator.lonely_rows()) == 0
        f = points[:, 0]
        # both carry the rounding of exponents of a few β, times steps of 1/sqrt β
        off = 4 * beta * np.finfo(float).eps * 32 * beta / np.sqrt(beta)
        np.testing.assert_allclose(
            operator.generator(f),
            generator(points, f, score, beta, self_loops=True),
            rtol=1e-12,
            atol=off,
        )
