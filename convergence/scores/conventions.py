"""Other authors' bandwidths in terms of β, so that no factor is ever guessed.

| convention            | β here       | generator       |
|-----------------------|--------------|-----------------|
| ``exp(-beta d^2)``    | β            | 4ħβ (I - P)     |
| ``exp(-d^2/4eps)``    | 1/(4ε)       | (ħ/ε) (I - P)   |
| ``exp(-d^2/2eps)``    | 1/(2ε)       | (2ħ/ε) (I - P)  |
| ``exp(-d^2/eps)``     | 1/ε          | (4ħ/ε) (I - P)  |
| ``softmax(beta x.y)`` | β/2, |x| = 1 | 2ħβ (I - P)     |

On the unit sphere x·y = 1 - |x-y|²/2, so that exp(βx·y) is exp(-(β/2)|x-y|²) up to a constant.
"""

from __future__ import annotations

from ..errors import InvalidInputError, require_positive

_BETA = {
    "exp(-beta d^2)": lambda beta: beta,
    "exp(-d^2/4eps)": lambda eps: 0.25 / eps,
    "exp(-d^2/2eps)": lambda eps: 0.5 / eps,
    "exp(-d^2/eps)": lambda eps: 1.0 / eps,
    "softmax(beta x.y)": lambda beta: 0.5 * beta,
}

CONVENTIONS = tuple(_BETA)


def beta_from(convention: str, scale: float) -> float:
    """The β of the kernel exp(-β d²) that equals a kernel written in another convention.

    The generator is then 4ħβ (I - P) in every case.

    Parameters
    ----------
    convention : str
        One of `CONVENTIONS`.
    scale : float
        The ε or β of that convention, > 0.

    Raises
    ------
    InvalidInputError
        For an unknown convention, or a scale that is not positive.

    Examples
    --------
    >>> beta_from("exp(-d^2/4eps)", 0.01)
    25.0
    """
    if convention not in _BETA:
        raise InvalidInputError(f"unknown convention {convention!r}: one of {', '.join(_BETA)}")
    return _BETA[convention](require_positive("scale", scale))
