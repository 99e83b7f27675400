"""Exact identities: residuals are rounding, wrong identities are not, and names must agree."""

from dataclasses import replace

import numpy as np
import pytest

from convergence.claims import head_identities, identity_claim, walk_identities
from convergence.errors import InvalidInputError
from convergence.operators import Bridge, MarkovOperator
from convergence.running import load_study, study_files
from convergence.scores import GeneralLink, Head, PerPointMetric
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


def test_every_line_is_claimed_and_two_printed_statements_refuted():
    assert len(CLAIMS) == 15
    refuted = [claim.id for claim in CLAIMS if claim.refutes]
    assert refuted == ["bridge", "sinkhorn"]
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


def off(found):
    """Numbers that are wrong by a millionth of the largest, each by another amount."""
    found = np.asarray(found)
    wave = np.cos(np.arange(found.size)).reshape(found.shape)
    return found + 1e-6 * (1 + np.max(np.abs(found))) * wave


def off_scaling(found):
    return replace(found, log_weights=off(found.log_weights))


def off_reversal(found):
    return off(found @ np.eye(found.shape[0]))


def off_inverse(found):
    return ((f"({found[0][0]})*1.000001", found[0][1]), found[1])


def starved(law):
    return law * np.where(np.arange(len(law)), 1.0, 1e-6)


# for every identity that must hold: a function of ours that it would catch in an error, and the
# error (`off` where no other is named)
EXERCISED = {
    "split": {"score": (Head, "squared_bond"), "Doob weight": "log_matrix"},
    "family": {
        **dict.fromkeys(
            ("ATTN", "DMTN", "ATAP", "DMAP", "DMTN = S + ½⟨n,n⟩"), (MarkovOperator, "toarray")
        ),
        "bond of DMTN half that of DMAP": (Head, "squared_bond"),
        "fold of DMAP": (Head, "scores"),
    },
    "doob": {"DMAP": "log_matrix", "ATAP": "log_matrix"},
    "exact-link": {
        "P of the Doob transform": (GeneralLink, "values"),
        "cycle affinities": "cycle_affinities",
        "entropy production": "entropy_production",
    },
    "bridge": {
        **dict.fromkeys(
            (
                "symmetric coupling",
                "general solver too",
                "alternating updates find it too",
                "unequal marginals carry a - b",
            ),
            (Bridge, "coupling"),
        ),
        "zero currents": (MarkovOperator, "_rmatmat"),
    },
    "kolmogorov": {
        **dict.fromkeys(
            ("DMAP: zero", "ATAP: zero", "DMTN: that of ATTN", "site potentials"),
            "cycle_affinities",
        ),
        "ATTN: from the link": (Head, "link"),
    },
    "square-roots": {
        "factors": "key_difference",
        "factors of the reversed walk": "query_difference",
        "deficit": "elimination_law",
        "deficit not negative": ("elimination_law", starved),
    },
    "steady-state": {
        "entropy production": "entropy_production",
        "twice the mean link": (Head, "link"),
        "ATAP produces none": "entropy_production",
        "flux out of a set": "net_flux",
        "reversed walk": ("time_reversal", off_reversal),
    },
    "products-of-experts": {
        "kernels multiply": (Head, "squared_bond"),
        "sum is the bond": (Head, "squared_bond"),
        "normalised experts": "log_matrix",
    },
    "energy": {
        "spectral sum": "reversible_law",
        "sum over bonds": (MarkovOperator, "generator"),
        "energy of the kernel's parts": "dirichlet_parts",
    },
    "softmax-expansion": {"order 2": "log_matrix"},
    "sinkhorn": {
        "symmetric kernel": (Bridge, "coupling"),
        "$A^{-+}$ is the transpose of $A^{+-}$": (Bridge, "coupling"),
        "symmetric solver": ("sinkhorn", off_scaling),
    },
    "connection-walks": {
        "one head": (MarkovOperator, "_matmat"),
        "many heads": (MarkovOperator, "_matmat"),
        "walk is Markov": "log_matrix",
    },
    "per-point-metrics": {
        "head of dimension d": (Head, "scores"),
        "constant metric": (PerPointMetric, "__call__"),
    },
    "woodbury": {
        "inverse": (PerPointMetric, "inverse", off_inverse),
        "scores": (PerPointMetric, "__call__"),
        "symmetrised scores": (PerPointMetric, "__call__"),
    },
}


def wrong(right, error):
    """A function, or a property, whose result has an error."""
    if isinstance(right, property):
        return property(wrong(right.fget, error))
    return lambda *arguments, **named: error(right(*arguments, **named))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_every_identity_is_one_of_a_function_of_ours(claim, monkeypatch):
    """Associativity, or a formula that NumPy evaluates alone, would hold whatever we do."""
    exercised = EXERCISED[claim.id]
    assert set(exercised) == set(claim.functions) - set(claim.wrong)
    tokens = claim.space.sample(12, np.random.default_rng(53))
    factor = claim.schedules["smoke"].identity[1].beta
    for name, entry in exercised.items():
        owner, *rest = entry if isinstance(entry, tuple) else (entry,)
        # a member of a class, or a function that the identities have imported
        owners, member, *error = (
            ((owner,), *rest)
            if isinstance(owner, type)
            else ((head_identities, walk_identities), owner, *rest)
        )
        column = claim.functions.index(name)
        assert claim.estimate(tokens, factor)[0, column] <= claim.tolerance, name
        with monkeypatch.context() as patch:
            for place in (place for place in owners if hasattr(place, member)):
                patch.setattr(place, member, wrong(getattr(place, member), *(error or [off])))
            assert claim.estimate(tokens, factor)[0, column] > claim.tolerance, name
