"""Exact identities: residuals are rounding, wrong identities are not, and names must agree."""

import numpy as np
import pytest

from convergence.claims import head_identities, identity_claim, walk_identities
from convergence.errors import InvalidInputError
from convergence.running import load_study, study_files
from convergence.spaces import Gaussian

LINE = Gaussian(((1.0,),))
CLAIMS = load_study(study_files()["exact_identities"]).claims


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_residuals(claim):
    """At other sizes than those of the presets; wrong identities fail in every single sample."""
    rng = np.random.default_rng(50)
    for setting in claim.schedules["smoke"].identity:
        for n in (10, 25):
            residuals = claim.estimate(claim.space.sample(n, rng), setting.beta)
            for name, residual in zip(claim.functions, residuals[0], strict=True):
                if name in claim.wrong:
                    assert residual > 1e3 * claim.tolerance, name
                else:
                    assert 0 <= residual <= claim.tolerance, name


def test_every_line_is_claimed_and_one_printed_statement_refuted():
    assert len(CLAIMS) == 15
    refuted = [claim.id for claim in CLAIMS if claim.refutes]
    assert refuted == ["bridge"]
    for claim in CLAIMS:
        assert {"smoke", "standard", "paper"} == set(claim.schedules)


def test_names_of_residuals_must_be_those_of_the_claim():
    claim = identity_claim(
        "sum", LINE, lambda x, factor: {"zero": 0.0, "one": 1.0}, ("zero",), ("two",),
        statement="", source="", condition=8.0, factors=(1.0,),
    )  # fmt: skip
    assert claim.tolerance == 8 * np.finfo(float).eps
    with pytest.raises(InvalidInputError, match=r"'one', 'zero'.*'two', 'zero'"):
        claim.estimate(np.zeros((4, 1)), 1.0)


def test_drawn_heads_are_seeded_and_scaled():
    tokens = np.random.default_rng(51).normal(size=(9, 4))
    one, again, other = (head_identities.drawn_head(tokens, 1.0, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.scores(), again.scores())
    assert np.max(np.abs(one.scores() - other.scores())) > 0.1
    large = head_identities.drawn_head(tokens, 20.0)
    np.testing.assert_allclose(large.scores(), 20 * one.scores(), rtol=1e-12)


def test_alternating_scaling_has_both_marginals():
    rng = np.random.default_rng(52)
    a, b = rng.random((2, 8)) + 0.2
    a, b = a / a.sum(), b / b.sum()
    scores = rng.normal(size=(8, 8))
    found = np.exp(walk_identities.alternating_scaling(scores, np.log(a), np.log(b)))
    np.testing.assert_allclose(found.sum(axis=1), a, rtol=1e-13)
    np.testing.assert_allclose(found.sum(axis=0), b, rtol=1e-13)
    ratio = np.log(found) - scores  # of rank one in the sense of φ + ψ
    np.testing.assert_allclose(ratio - ratio[:1], (ratio - ratio[:1])[:, :1] + np.zeros(8))
