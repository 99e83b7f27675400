"""q_β, Sinkhorn's potential and bridge potentials on a profile, at N = ∞ and any β."""

from __future__ import annotations

import numpy as np

from ..errors import NotConvergedError
from .profile import Function, Profile, Rule, refined

_TOLERANCE = 1e-14
_MOST_STEPS = 200
# log(u K̄u) changes by I + P with 0 <= P <= 1, because the Gaussian kernel is positive definite:
# Polyak's heavy ball for a spectrum in [1, 2] contracts by (√2-1)/(√2+1) = 0.17
_STEP = 4 / (1 + np.sqrt(2)) ** 2
_MOMENTUM = ((np.sqrt(2) - 1) / (np.sqrt(2) + 1)) ** 2


def log_mass(profile: Profile, beta: float) -> Function:
    """s → log q_β(s) = log ∫ K̄(s, t) dν(t)."""

    def solve(rule: Rule) -> tuple[Function]:
        negative = rule.extended(np.zeros(len(rule.nodes)))
        return (lambda s: -negative(s),)

    return refined(profile, beta, solve)[0]


def sinkhorn_potential(
    profile: Profile, beta: float, log_marginal: Function | None = None
) -> Function:
    """s → log u(s) with u(s) ∫ K̄(s, t) u(t) dν(t) = a(s).

    Tends to -½ log ρ + const for a = 1, with an error of order 1/β.

    Parameters
    ----------
    profile : Profile
    beta : float
    log_marginal : callable, optional
        log a against ν; zero by default, which leaves ν itself stationary.

    Raises
    ------
    InvalidInputError, NotConvergedError
    """
    return refined(profile, beta, lambda rule: (_symmetric(rule, log_marginal),))[0]


def _symmetric(rule: Rule, log_marginal: Function | None) -> Function:
    log_a = np.zeros(len(rule.nodes)) if log_marginal is None else log_marginal(rule.nodes)
    kernel = np.exp(rule.log_kernel(rule.nodes)) * rule.masses
    x = old = 0.5 * (log_a - np.log(np.sum(kernel, axis=1)))
    for _ in range(_MOST_STEPS):
        top = np.max(x)
        residual = x + top + np.log(kernel @ np.exp(x - top)) - log_a
        if np.max(np.abs(residual)) <= _TOLERANCE * max(1.0, np.max(np.abs(x))):
            return rule.extended(x, log_marginal)
        x, old = x - _STEP * residual + _MOMENTUM * (x - old), x
    raise NotConvergedError(
        f"Sinkhorn's potential is {np.max(np.abs(residual)):.1e} off after {_MOST_STEPS} steps"
    )


def bridge_potentials(
    profile: Profile, beta: float, log_first: Function, log_second: Function
) -> tuple[Function, Function]:
    """φ and ψ of the Schrödinger bridge between the laws a dν and b dν.

    e^φ(s) ∫ K̄(s, t) e^ψ(t) dν(t) = a(s) and e^ψ(t) ∫ K̄(t, s) e^φ(s) dν(s) = b(t), the constant
    shared out so that ∫ (φ - ψ) dν = 0. Newton's method on the composition of both equations:
    alternating updates would need a number of sweeps proportional to β.

    Parameters
    ----------
    profile : Profile
    beta : float
    log_first, log_second : callable
        s → log a, log b against ν, up to constants. The same function twice gives φ = ψ.

    Returns
    -------
    query_potential, key_potential : callable
        φ and ψ; the step law has the weight exp ψ on its keys.

    Raises
    ------
    InvalidInputError
    NotConvergedError
        When the marginals lie so far apart, for this β, that Newton's method fails.
    """

    def solve(rule: Rule) -> tuple[Function, Function]:
        first, second = (_normalised(rule, f) for f in (log_first, log_second))
        if log_first is log_second:
            potential = _symmetric(rule, first)
            return potential, potential
        psi = _newton(rule, first(rule.nodes), second(rule.nodes))
        phi = rule.extended(psi, first)
        # one more alternating update, which also shares out the constant
        raw = rule.extended(phi(rule.nodes), second)
        shift = 0.5 * float(rule.masses @ (phi(rule.nodes) - raw(rule.nodes)))
        return (lambda s: phi(s) - shift), (lambda s: raw(s) + shift)

    query, key = refined(profile, beta, solve)
    return query, key


def _normalised(rule: Rule, log_density: Function) -> Function:
    """log of the density against ν with total one."""
    values = log_density(rule.nodes)
    top = np.max(values)
    total = top + np.log(rule.masses @ np.exp(values - top))
    return lambda s: log_density(s) - total


def _newton(rule: Rule, log_a: np.ndarray, log_b: np.ndarray) -> np.ndarray:
    """ψ at the nodes, from r(ψ) = log b - ψ - L(log a - L(ψ)), L(x) = log ∫ K̄ e^x dν."""
    log_kernel, law = rule.log_kernel(rule.nodes), rule.masses * np.exp(log_b)

    def residual(psi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi = log_a - rule.log_mean(log_kernel, psi)
        return phi, log_b - psi - rule.log_mean(log_kernel, phi)

    psi = np.zeros(len(log_a))
    phi, off = residual(psi)
    for step in range(_MOST_STEPS):
        size = np.max(np.abs(off))
        if size <= 10 * _TOLERANCE * max(1.0, np.max(np.abs(psi))):
            return psi
        if step < 4:  # alternating updates first
            change = off
        else:
            ahead, back = (_rows(rule, log_kernel, x) for x in (psi, phi))
            # constants are in the kernel of I - back·ahead; the law b removes them
            change = np.linalg.solve(np.eye(len(psi)) - back @ ahead + law, off)
        for halving in range(20):
            new_psi = psi + 0.5**halving * change
            new_phi, new_off = residual(new_psi)
            if step < 4 or np.max(np.abs(new_off)) < size:
                break
        else:
            if size <= 1e-12 * max(1.0, np.max(np.abs(psi))):
                return psi  # as far as rounding lets it come
            break
        psi, phi, off = new_psi, new_phi, new_off
    raise NotConvergedError(
        f"the bridge's marginals are {size:.1e} off at beta = {rule.beta:g}: they lie too far "
        "apart for this bandwidth; take a smaller beta or closer marginals"
    )


def _rows(rule: Rule, log_kernel: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The Markov matrix K̄ e^x ν / ∫ K̄ e^x dν on the nodes."""
    exponents = log_kernel + (x + np.log(rule.masses))
    weights = np.exp(exponents - np.max(exponents, axis=1, keepdims=True))
    return weights / np.sum(weights, axis=1, keepdims=True)
