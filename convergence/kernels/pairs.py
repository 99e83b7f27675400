"""The innermost loops: one query against one block of keys in the first-level cache.

A block holds up to a few hundred keys, dimension-major. A visit makes three passes over a small
buffer, each a loop the compiler turns into vector instructions: exponents and their maximum,
weights and their sum, and one weighted sum a value column. Exponents are to base two. Differences
of coordinates, and of values to their centre, are formed before anything is multiplied.

The flags allow sums to be reordered and multiply-adds to be fused, and assume that no NaN occurs;
infinities keep their meaning. The exponential itself only allows fusing, because reordering would
cancel the shift that rounds its argument. All of it is inlined into the drivers: a process that has
just compiled would otherwise run another copy of these loops, vectorised another way and so off in
the last digit, than one that has loaded the drivers from the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiled import compiled

_SUMS = {"reassoc", "contract", "nsz", "nnan"}
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer in the low bits
_FLOOR = -1000.0  # weights below 2**-1000 of the largest are zero


class Block(NamedTuple):
    """Scratch for one block of keys."""

    points: Any  # (D, size)
    log2_weights: Any  # (size,)
    values: Any  # (n_values, size)
    buffer: Any  # (size,)


class Rows(NamedTuple):
    """A few queries and their running sums ``2**top * mass`` and ``2**top * moments``."""

    points: Any  # (n_rows, D)
    centers: Any  # (n_rows, n_values)
    excluded: Any  # (n_rows,) position of the key left out, -1 for none
    bound: Any  # (n_rows,) upper bound of what the block at hand can add, as a logarithm
    top: Any  # (n_rows,)
    mass: Any  # (n_rows,)
    moments: Any  # (n_rows, n_values)


@intrinsic
def _bits(typing_context, x):
    """The 64 bits of a float as an integer."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(typing_context, x):
    """The float with the given 64 bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def _larger(typing_context, x, y):
    """Maximum of two floats that are not NaN, in the form the vectoriser reduces."""

    def generate(context, builder, signature, arguments):
        flags = ["nnan", "nsz"]
        left, right = arguments
        above = builder.fcmp_ordered(">", left, right, flags=flags)
        return builder.select(above, left, right, flags=flags)

    return types.float64(types.float64, types.float64), generate


@compiled(forceinline=True, fastmath={"contract"})
def exp2(x):
    """``2**x`` for x <= 1000, zero for x <= -1000; relative error below 5e-16.

    Split into the nearest integer and a rest in [-1/2, 1/2]; the rest goes through the polynomial
    of degree 10 with the smallest relative error (2.1e-16), the integer into the exponent bits.
    """
    shifted = x + _ROUND
    r = x - (shifted - _ROUND)
    p = 7.037279530582804e-09
    p = p * r + 1.0208537904552164e-07
    p = p * r + 1.3215662831846104e-06
    p = p * r + 1.5252658116561384e-05
    p = p * r + 0.00015403529961135955
    p = p * r + 0.0013333558228561476
    p = p * r + 0.00961812910803459
    p = p * r + 0.05550410866445883
    p = p * r + 0.24022650695908768
    p = p * r + 0.6931471805599497
    p = p * r + 1.0
    power = _from_bits(_bits(p) + (_bits(shifted) << 52))
    return power if x > _FLOOR else 0.0


@compiled()
def lower_log2(top, mass):
    """Lower bound, within one, of ``top + log2(mass)`` for a mass of zero or at least one."""
    if mass <= 0.0:
        return -np.inf
    return top + ((_bits(mass) >> 52) - 1023)


@compiled(forceinline=True, fastmath=_SUMS)
def _exponents(points, i, keys, weights, out, n, beta):
    """Fill `out` with ``c_j - beta |u_i - v_j|²``; return the largest."""
    dimension = keys.shape[0]
    top = -np.inf
    if dimension == 1:
        u = points[i, 0]
        for j in range(n):
            x = u - keys[0, j]
            out[j] = weights[j] - beta * (x * x)
            top = _larger(out[j], top)
    elif dimension == 2:
        u, v = points[i, 0], points[i, 1]
        for j in range(n):
            x, y = u - keys[0, j], v - keys[1, j]
            out[j] = weights[j] - beta * (x * x + y * y)
            top = _larger(out[j], top)
    elif dimension == 3:
        u, v, w = points[i, 0], points[i, 1], points[i, 2]
        for j in range(n):
            x, y, z = u - keys[0, j], v - keys[1, j], w - keys[2, j]
            out[j] = weights[j] - beta * (x * x + y * y + z * z)
            top = _larger(out[j], top)
    else:
        _squares(points, i, keys, out, n)
        for j in range(n):
            out[j] = weights[j] - beta * out[j]
            top = _larger(out[j], top)
    return top


@compiled(forceinline=True, fastmath=_SUMS)
def _squares(points, i, keys, out, n):
    """Squared distances in four or more dimensions, two dimensions a pass."""
    dimension = keys.shape[0]
    u, v = points[i, 0], points[i, 1]
    for j in range(n):
        x, y = u - keys[0, j], v - keys[1, j]
        out[j] = x * x + y * y
    for d in range(2, dimension - 1, 2):
        u, v = points[i, d], points[i, d + 1]
        for j in range(n):
            x, y = u - keys[d, j], v - keys[d + 1, j]
            out[j] += x * x + y * y
    if dimension % 2:
        u = points[i, dimension - 1]
        for j in range(n):
            x = u - keys[dimension - 1, j]
            out[j] += x * x


@compiled(forceinline=True, fastmath=_SUMS)
def _weights(buffer, n, top):
    """Turn exponents into weights relative to ``2**top``; return their sum."""
    total = 0.0
    for j in range(n):
        weight = exp2(buffer[j] - top)
        buffer[j] = weight
        total += weight
    return total


@compiled(forceinline=True, fastmath=_SUMS)
def _moment(buffer, values, k, center, n):
    """Weighted sum of one value column, each value taken relative to the row's centre."""
    total = 0.0
    for j in range(n):
        total += buffer[j] * (values[k, j] - center)
    return total


@compiled(forceinline=True)
def absorb(rows, n_rows, block, first, n, beta, margin):
    """Add a block, the `n` keys at positions `first` and up, to all rows that can see it.

    A row passes the block over when the row's bound, or later the better bound ``n * 2**largest``,
    lies `margin` or more below what the row already holds; bounds are compared by their distance,
    because at exponents of 1e18 the margin itself would be rounded away. A key left out has weight
    zero while its row is at work. Returns the number of pairs formed.
    """
    points, centers, excluded, bound, top, mass, moments = rows
    keys, log2_weights, values, buffer = block
    log2_n = np.log2(n)
    pairs = 0
    for i in range(n_rows):
        reached = lower_log2(top[i], mass[i])
        if not bound[i] - reached > -margin:
            continue
        pairs += n
        position = excluded[i] - first
        left_out = 0 <= position < n
        if left_out:
            weight = log2_weights[position]
            log2_weights[position] = -np.inf
        largest = _exponents(points, i, keys, log2_weights, buffer, n, beta)
        if left_out:
            log2_weights[position] = weight
        if not (largest - reached) + log2_n > -margin:
            continue
        if largest > top[i]:
            scale = exp2(top[i] - largest)
            top[i] = largest
            mass[i] *= scale
            for k in range(moments.shape[1]):
                moments[i, k] *= scale
        mass[i] += _weights(buffer, n, top[i])
        for k in range(moments.shape[1]):
            moments[i, k] += _moment(buffer, values, k, centers[i, k], n)
    return pairs
