"""Exact identities at finite N: what holds for any head to rounding, whatever its training.

Tokens are Gaussian, the weights of the heads are drawn from fixed seeds, and the scores are
multiplied by tiny, ordinary and large factors (the β of the settings). Every claim holds wrong
identities beside the right ones, which must fail by a thousand tolerances.
"""

from convergence.claims import head_identities, identity_claim, walk_identities
from convergence.claims.identity import EPSILON
from convergence.running import Study
from convergence.spaces import Gaussian

tokens = Gaussian(tuple(tuple(float(a == b) for b in range(6)) for a in range(6)))
SOURCE = "Candanedo, Attention Geometry, arXiv:2604.09560v3"
FIRST = "Candanedo, The Diffusion-Attention Connection, arXiv:2604.09560v1"

SCORES = (1e-3, 1.0, 20.0)
WALKS = (1e-3, 1.0, 5.0)  # beyond, all mass of a steady state sits on a few tokens
SCALINGS = (1e-3, 0.3, 1.0)  # beyond, alternating updates take thousands of sweeps
# rounding of sums over the tokens, at most 64; that of a scaling is multiplied by its iteration
SUMS, ITERATED = 64.0, 512.0

STUDY = Study(
    title="Exact identities at finite N",
    claims=(
        identity_claim(
            "split",
            tokens,
            head_identities.split_of_the_score,
            ("score", "Doob weight"),
            (
                "½ dropped",
                "sign of the link",
                "column terms dropped",
                "row terms dropped",
                "½ dropped from the sites",
            ),
            statement=r"$S_{ij} = -\frac{1}{2}d_{ij}^2 + a_{ij} + \frac{1}{2}(S_{ii} + S_{jj})$",
            source=SOURCE,
            condition=SUMS,
            factors=SCORES,
        ),
        identity_claim(
            "family",
            tokens,
            head_identities.family,
            (
                "ATTN",
                "DMTN",
                "ATAP",
                "DMAP",
                "DMTN = S + ½⟨n,n⟩",
                "bond of DMTN half that of DMAP",
                "fold of DMAP",
            ),
            (
                "bond of DMTN that of DMAP",
                "c = |k|²",
                "rows for columns",
                "DMTN without its link",
                "DMTN with the link's sign wrong",
                "DMAP without its ½",
                "fold of ATTN",
            ),
            statement=r"ATTN, DMTN, ATAP, DMAP are $e^{-\beta\vert u_i - v_j\vert^2 + c_j}$",
            source=f"{SOURCE}, Table 4",
            condition=SUMS,
            factors=SCORES,
        ),
        identity_claim(
            "doob",
            tokens,
            walk_identities.doob_reversibility,
            ("DMAP", "ATAP"),
            (
                "h omitted from π",
                "h squared in π",
                "Kh omitted from π",
                "K1 for Kh in π",
                "asymmetric K",
            ),
            statement=r"symmetric $K$: $P_h$ is reversible for $\pi \propto h \odot Kh$",
            source=SOURCE,
            condition=SUMS,
            factors=SCORES,
        ),
        identity_claim(
            "exact-link",
            tokens,
            walk_identities.exact_links,
            ("P of the Doob transform", "cycle affinities", "entropy production"),
            (
                "exact link without its weight",
                "sign of the weight",
                "weight doubled",
                "circulating link: no affinity",
                "circulating link: no entropy production",
            ),
            statement=r"link $w(y) - w(x)$: the Doob transform $h = e^w$, no current",
            source=SOURCE,
            condition=SUMS,
            factors=WALKS,
        ),
        identity_claim(
            "bridge",
            tokens,
            walk_identities.bridges,
            (
                "symmetric coupling",
                "zero currents",
                "general solver too",
                "alternating updates find it too",
                "unequal marginals carry a - b",
            ),
            (
                "unequal: symmetric coupling",
                "unequal: no transport",
                "unequal marginals carry b - a",
                "rows alone scaled",
                "asymmetric kernel: symmetric coupling",
            ),
            statement="a bridge over a symmetric kernel carries $a - b$, nothing where $a = b$",
            source=FIRST,
            condition=ITERATED,
            factors=SCALINGS,
            refutes="a bridge with equal marginals carries stationary currents",
        ),
        identity_claim(
            "kolmogorov",
            tokens,
            walk_identities.kolmogorov,
            (
                "DMAP: zero",
                "ATAP: zero",
                "ATTN: from the link",
                "DMTN: that of ATTN",
                "site potentials",
            ),
            (
                "ATTN: zero",
                "half the affinity",
                "sign of the affinity",
                "site potentials seen",
                "$P_{ji}$ dropped",
            ),
            statement=r"cycle affinities are $2\sum a_{ij}$ and do not see site potentials",
            source="Kolmogorov 1936; " + SOURCE,
            condition=SUMS,
            factors=SCORES,
        ),
        identity_claim(
            "square-roots",
            tokens,
            walk_identities.square_root_factors,
            ("factors", "factors of the reversed walk", "deficit", "deficit not negative"),
            (
                "½ dropped",
                "$D_K$ on both sides",
                r"$\pi$ for $\bar{A}1$",
                "deficit without stationarity",
            ),
            statement=r"$\frac{1}{2}D_Q^T D_K = \mathrm{diag}(\bar{A}1) - A$; "
            r"$\pi - \bar{A}1 \geq 0$",
            source=SOURCE,
            condition=SUMS,
            factors=WALKS,
        ),
        identity_claim(
            "steady-state",
            tokens,
            walk_identities.steady_currents,
            (
                "entropy production",
                "twice the mean link",
                "ATAP produces none",
                "flux out of a set",
                "reversed walk",
            ),
            (
                "½ dropped",
                "the mean link once",
                "ATTN produces none",
                "flux one way only",
                "walk is its reverse",
            ),
            statement=r"$\sigma = \frac{1}{2}\sum(A_{ij} - A_{ji})\log(A_{ij}/A_{ji}) "
            r"= 2\sum A_{ij} a_{ij}$; "
            r"$P^* = \pi^{-1}P^T\pi$",
            source=SOURCE,
            condition=SUMS,
            factors=WALKS,
        ),
        identity_claim(
            "products-of-experts",
            tokens,
            head_identities.products_of_experts,
            ("kernels multiply", "sum is the bond", "normalised experts"),
            (
                "one expert is the bond",
                "transpose of a normalised expert",
                "experts added",
                "site terms dropped",
            ),
            statement=r"$e^{-(d^\rightarrow + d^\leftarrow)} = A^\rightarrow \odot A^\leftarrow$",
            source=f"{FIRST}, eqs. 26 and 30",
            condition=SUMS,
            factors=(1e-3, 1.0, 8.0),  # beyond, the kernels overflow
        ),
        identity_claim(
            "energy",
            tokens,
            walk_identities.energy,
            ("spectral sum", "sum over bonds", "energy of the kernel's parts"),
            ("½ dropped", "law not normalised", "uniform law", "law omitted from $c_k$"),
            statement=r"$\langle f\vert I - P\vert f\rangle_\pi = \sum\lambda_k\vert c_k\vert^2$",
            source=SOURCE,
            condition=SUMS,
            factors=SCORES,
        ),
        identity_claim(
            "softmax-expansion",
            tokens,
            head_identities.softmax_expansion,
            ("order 2",),
            (
                "order 2 without the centring",
                "order 2 with half the linear term",
                "order 2 with the linear term's sign wrong",
                "order 2 with columns centred",
                "order 3",
            ),
            statement=r"$\mathrm{softmax}(\beta S) = 11^T/N + \beta S(I - 11^T/N)/N + O(\beta^2)$",
            source=SOURCE,
            condition=1e-6 / EPSILON,  # a measured order: remainders of size β² carry ε/β²
            factors=(3e-3, 1e-2, 3e-2),
        ),
        identity_claim(
            "sinkhorn",
            tokens,
            walk_identities.sinkhorn_symmetry,
            ("symmetric kernel", "$A^{-+}$ is the transpose of $A^{+-}$", "symmetric solver"),
            (
                "$A^{+-} = A^{-+}$",
                "$A^{+-}$ symmetric",
                "one sweep in either order",
                "rows alone scaled",
                "mean of $A^{+-}$ and $A^{-+}$ for symmetric scores",
            ),
            statement=r"Sinkhorn of a symmetric kernel is symmetric; else $A^{+-} \neq A^{-+}$, "
            r"transposes of each other",
            source=f"{FIRST}, footnote on both orders of scaling",
            condition=ITERATED,
            factors=SCALINGS,
            refutes="$A^{+-}$ and $A^{-+}$ are neither equal nor transposes",
        ),
        identity_claim(
            "connection-walks",
            tokens,
            head_identities.connection_walks,
            ("one head", "many heads", "walk is Markov"),
            (
                "not scaled by h",
                "one transport for all edges",
                "transport transposed",
                "transport not over its weights",
                "one head's transport transposed",
            ),
            statement=r"$\sum_h A_h X W_h$ is one walk with transport $T_{ij}$, scaled by $h$",
            source=SOURCE,
            condition=SUMS,
            factors=SCORES,
        ),
        identity_claim(
            "per-point-metrics",
            tokens,
            head_identities.per_point_metrics,
            ("head of dimension d", "constant metric"),
            (
                "one-sided metric is a Gram matrix",
                "symmetrised metric is a Gram matrix",
                "terms of the key left in",
                "head of dimension d has rank d - 1",
            ),
            statement=r"$\delta^T G(x)\delta$ has a rank above $d$: no Gram matrix",
            source=SOURCE,
            condition=SUMS,
            factors=SCORES,
        ),
        identity_claim(
            "woodbury",
            tokens,
            head_identities.woodbury,
            ("inverse", "scores", "symmetrised scores"),
            (
                "$I - UU^T$",
                "$I + UU^T$ for $I + U^TU$",
                "sign of the correction",
                "$U^TU$ for $I + U^TU$",
                "$G$ of the key",
            ),
            statement=r"$G = I + UU^T$: scores without forming $G$, "
            r"$G^{-1} = I - U(I + U^TU)^{-1}U^T$",
            source="Woodbury 1950",
            condition=SUMS,
            factors=SCORES,
        ),
    ),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
