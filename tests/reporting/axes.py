"""Reading figures back from their Axes."""

import numpy as np
from scipy import stats


def bars(ax):
    """Rows (x, y, low, high) of every set of error bars."""
    found = []
    for container in ax.containers:
        x, y = container[0].get_data()
        ends = np.array(container[2][0].get_segments())[:, :, 1]
        found.append(np.stack([x, y, *ends.T], axis=1))
    return found


def with_intervals(samples):
    """Mean and 95 % interval over the first axis, 1.96 sd/sqrt(R)."""
    mean, half = np.mean(samples, axis=0), 1.96 * stats.sem(samples, axis=0)
    return np.stack([mean, mean - half, mean + half], axis=-1)


def free_lines(ax):
    """Lines that belong to no error bars."""
    taken = {line for c in ax.containers for line in (c[0], *c[1])}
    return [line for line in ax.lines if line not in taken]
