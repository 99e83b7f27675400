"""Every verdict on the study made by hand, worked out in plain NumPy and scipy.

A row is a dict with the columns of verdicts.csv that hold numbers, and the outcome.
"""

import zlib

import numpy as np
from scipy import optimize, stats

NAMES = ("outcome", "measured", "predicted", "low", "high", "p_value", "level", "sees")
NAN = float("nan")
# mean, variance and factor of two functions at two settings, one part, three curves and a slope of
# two functions, three faults; mean, factor and slope of two functions, two parts and two faults
TESTS = (2 * 2 * 2 + 2 + 1 + 2 * (3 + 1) + 3) + (2 + 2 + 2 + 2 + 2)
LEVEL = 1e-4 / TESTS
BILLIONTH = 1e-9


def row(outcome, measured, predicted, low=NAN, high=NAN, p=NAN, sees=NAN):
    if outcome is None:
        outcome = "FAIL" if p < LEVEL else "PASS"
    tested = NAN if np.isnan(p) else LEVEL
    return dict(zip(NAMES, (outcome, measured, predicted, low, high, p, tested, sees), strict=True))


def rows(handmade):
    by_hand = {"known": known, "replicates": replicates, "identity": identity, "empty": empty}
    return {
        (claim.id, *key): found
        for claim in handmade.STUDY.claims
        for key, found in by_hand[claim.id](handmade, claim).items()
    }


def batches(handmade, claim, check):
    """Settings with their values (replicates, targets, functions)."""
    cells = handmade.cells_of("handmade", claim, claim.schedules["standard"])
    for setting in getattr(claim.schedules["standard"], check):
        mine = [c for c in cells if (c.check, c.n, c.beta) == (check, setting.n, setting.beta)]
        yield setting, np.stack([handmade.values(cell) for cell in mine])


def standardised(h, setting, values, center):
    shift, sd = h.sampling_error(setting.n, setting.beta)
    return (values - center - shift) / sd


def bias(h):
    """A bias of one term leaves rounding, 1e-9 of the limit times the weights of seven steps."""
    weights = np.prod([(2.0**k + 1) / (2.0**k - 1) for k in range(1, 8)])
    found = {}
    for j, label in enumerate("fg"):
        rounding = BILLIONTH * max(1.0, np.max(np.abs(h.LIMIT[:, j]))) * weights
        last = np.sqrt(np.mean((h.BIAS[:, j] / h.BETAS[-1]) ** 2))
        error = 2 * rounding / last / np.log(2)
        found["bias", "value", label] = row("PASS", 0.0, 0.0, high=rounding)
        found["bias", "order", label] = row("PASS", 1.0, 1.0, 1.0 - error, 1.0 + error)
    return found


def student(samples):
    """The mean of θ in a row; what is seen by the noncentral law."""
    freedom = len(samples) - 1
    test = stats.ttest_1samp(samples, 0.0)
    low, high = test.confidence_interval(0.95)
    threshold, error = stats.t.isf(LEVEL / 2, freedom), stats.sem(samples)
    sees = error * optimize.brentq(lambda s: stats.nct.sf(threshold, freedom, s) - 0.99, 1, 99)
    return row(None, 1 + np.mean(samples), 1.0, 1 + low, 1 + high, test.pvalue, sees)


def fitted(h, data, part, columns, shifted):
    """θ of every replicate: least squares over settings, targets and functions."""
    found = []
    for r in range(min(len(values) for _, values in data)):
        top = bottom = 0.0
        for setting, values in data:
            shift, sd = h.sampling_error(setting.n, setting.beta)
            error = values[r] - h.expectation(setting.beta) - shifted * shift
            unit = part(setting.beta)
            top += np.sum((error * unit / sd**2)[:, columns])
            bottom += np.sum((unit**2 / sd**2)[:, columns])
        found.append(top / bottom)
    return np.array(found)


def slope(h, claim, j, predicted, one_sided):
    """Fitted to log RMSE; 2000 resamples of the replicates from the claim's own stream."""
    data = list(batches(h, claim, "joint"))
    log_n = np.log([s.n for s, _ in data])
    squares = [np.mean((v[:, :, j] - h.LIMIT[:, j]) ** 2, axis=1) for _, v in data]
    measured = np.polyfit(log_n, [0.5 * np.log(np.mean(s)) for s in squares], 1)[0]
    rng = np.random.default_rng(zlib.crc32(f"{claim.id}/{claim.functions[j]}".encode()))
    variance = 0.0
    centred = log_n - log_n.mean()
    for weight, s in zip(centred / np.sum(centred**2), squares, strict=True):
        picked = s[rng.integers(0, len(s), size=(2000, len(s)))]
        spread = np.var(0.5 * np.log(picked.mean(axis=1)), ddof=1)
        variance += weight**2 * spread * len(s) / (len(s) - 1)
    freedom = 3 * (len(squares[0]) - 1) / 2
    t = (measured - predicted) / np.sqrt(variance)
    p = stats.t.sf(t, freedom) if one_sided else 2 * stats.t.sf(abs(t), freedom)
    half = stats.t.isf(0.025, freedom) * np.sqrt(variance)
    return row(None, measured, predicted, measured - half, measured + half, p)


def known(h, claim):
    found = bias(h)
    data = list(batches(h, claim, "sampling"))
    for setting, values in data:
        errors, where = standardised(h, setting, values, h.expectation(setting.beta)), _at(setting)
        count, targets = errors.shape[:2]
        for j, label in enumerate("fg"):
            e = errors[:, :, j]
            half = 1.96 / np.sqrt(e.size)
            p = stats.chi2.sf(count * np.sum(e.mean(axis=0) ** 2), targets)
            found["sampling", f"mean, {where}", label] = row(
                None, e.mean(), 0.0, e.mean() - half, e.mean() + half, p
            )
            freedom, law = targets * (count - 1), stats.chi2(targets * (count - 1))
            square = np.sum(np.var(e, axis=0)) * count
            p = 2 * min(law.cdf(square), law.sf(square))
            up = np.sqrt(law.isf(LEVEL / 2) / law.ppf(0.01)) - 1
            down = 1 - np.sqrt(law.ppf(LEVEL / 2) / law.ppf(0.99))
            found["sampling", f"variance, {where}", label] = row(
                None, square / freedom, 1.0, square / law.ppf(0.975), square / law.ppf(0.025),
                min(1.0, p), max(up, down),
            )  # fmt: skip
    for j, label in enumerate("fg"):
        found["sampling", "factor", label] = factor(h, data, j)
    drift = fitted(h, data, h.drift, [0, 1], True)
    found["sampling", "factor of the drift", ""] = student(drift)
    return found | curves(h, claim) | known_faults(h, claim, data)


def factor(h, data, j):
    """θ by least squares with unit errors; its law is normal."""
    column, values = [], []
    for setting, v in data:
        center, (_, sd) = h.expectation(setting.beta), h.sampling_error(setting.n, setting.beta)
        values.append(standardised(h, setting, v, center)[:, :, j].ravel())
        column.append(np.tile((center / sd)[:, j], len(v)))
    column, values = np.concatenate(column), np.concatenate(values)
    error = 1 / np.linalg.norm(column)
    theta = column @ values * error**2
    p = 2 * stats.norm.sf(abs(theta) / error)
    sees = error * (stats.norm.isf(LEVEL / 2) + stats.norm.isf(0.01))
    return row(None, 1 + theta, 1.0, 1 + theta - 1.96 * error, 1 + theta + 1.96 * error, p, sees)


def curves(h, claim):
    """Σ (error against the limit)²/sd² is noncentral; at a fixed β noise falls like N^-1/2."""
    found, data = {}, list(batches(h, claim, "joint"))
    for j, label in enumerate("fg"):
        predicted = []
        for setting, values in data:
            shift, sd = h.sampling_error(setting.n, setting.beta)
            offset = ((h.BIAS / setting.beta + shift) / sd)[:, j]
            e = ((values - h.LIMIT) / sd)[:, :, j]
            law = stats.ncx2(e.size, len(e) * np.sum(offset**2))
            square = np.sum(e**2)
            p = min(1.0, 2 * min(law.cdf(square), law.sf(square)))
            found["joint", f"RMSE on its curve, N={setting.n}", label] = row(
                None, np.sqrt(square / law.mean()), 1.0, p=p
            )
            predicted.append(np.sqrt(np.mean((sd[:, j] * offset) ** 2 + sd[:, j] ** 2)))
        rate = np.polyfit(np.log([s.n for s, _ in data]), np.log(predicted), 1)[0]
        found["joint", "slope", label] = slope(h, claim, j, rate, False)
        found["joint", "exponent", label] = row("PASS", -0.5, -0.5)
    return found


def known_faults(h, claim, data):
    """The least p-value over settings and functions, the greatest power."""
    found = {}
    for fault in claim.faults:
        tried, powers = [], []
        for setting, values in data:
            wrong, sd = fault.expectation(setting.beta), h.sampling_error(setting.n, 1.0)[1]
            errors = standardised(h, setting, values, wrong)
            away = (h.expectation(setting.beta) - wrong) / sd
            for j, label in enumerate("fg"):
                statistic = len(errors) * np.sum(errors[:, :, j].mean(axis=0) ** 2)
                tried.append((stats.chi2.sf(statistic, 3), -statistic, label))
                power = stats.ncx2.sf(
                    stats.chi2.isf(LEVEL, 3), 3, len(errors) * np.sum(away[:, j] ** 2)
                )
                powers.append(power)
        p, statistic, label = min(tried)
        missed = "FAIL" if max(powers) > 1 - LEVEL else "INCONCLUSIVE"
        found["faults", fault.name, label] = row(
            "PASS" if p < LEVEL else missed, -statistic, stats.chi2.isf(LEVEL, 3), p=p
        )
    return found


def replicates(h, claim):
    found = bias(h)
    ((setting, values),) = batches(h, claim, "sampling")
    count = len(values)
    for j, label in enumerate("fg"):
        e = (values - h.expectation(setting.beta))[:, :, j]
        mean, half = np.mean(e.mean(axis=0) / e.std(axis=0, ddof=1)), 1.96 / np.sqrt(count)
        p = min(1.0, 3 * np.min(stats.ttest_1samp(e, 0).pvalue))
        found["sampling", f"mean, {_at(setting)}", label] = row(
            None, mean, 0.0, mean - half, mean + half, p
        )
        theta = fitted(h, [(setting, values)], h.expectation, [j], False)
        found["sampling", "factor", label] = student(theta)
    for name, part in (("drift", h.drift), ("curvature", h.curvature)):
        theta = fitted(h, [(setting, values)], part, [0, 1], False)
        found["sampling", f"factor of the {name}", ""] = student(theta)
    sizes = [s.n for s in claim.schedules["standard"].joint]
    for j, label in enumerate("fg"):
        found["joint", "slope", label] = slope(h, claim, j, -h.RATE, True)
        # of BIAS/β exactly; what rounding of N and of references may move
        last = np.sqrt(np.mean((h.BIAS[:, j] / h.BETAS[-1]) ** 2))
        slip = BILLIONTH * np.mean(np.abs(h.BIAS[:, j] / h.BETAS[-1])) / last**2
        error = 4 * slip * h.RATE / np.log(2)
        error += h.RATE * (0.5 / sizes[0] + 0.5 / sizes[-1]) / np.log(sizes[-1] / sizes[0])
        found["joint", "exponent", label] = row(
            "PASS", -h.RATE, -h.RATE, -h.RATE - error, -h.RATE + error
        )
    for fault in claim.faults:
        tried = []
        for j, label in enumerate("fg"):
            test = stats.ttest_1samp((values - fault.expectation(setting.beta))[:, :, j], 0)
            largest = np.argmin(test.pvalue)
            p = min(1.0, 3 * test.pvalue[largest])
            tried.append((p, -abs(test.statistic[largest]), label))
        p, t, label = min(tried)
        found["faults", fault.name, label] = row(
            "PASS" if p < LEVEL else "?", -t, stats.t.isf(LEVEL / 6, count - 1), p=p
        )
    return found


def identity(h, claim):
    """The largest residual of what is right, the smallest of what is wrong."""
    found = np.abs(list(h.RESIDUALS.values()))
    return {
        ("identity", "residual", "sum"): row("PASS", found[:, 0].max(), 0.0, high=h.TOLERANCE),
        ("identity", "residual", "broken"): row("FAIL", found[:, 1].max(), 0.0, high=h.TOLERANCE),
        ("faults", "transposed", ""): row("PASS", found[:, 2].min(), 1e3 * h.TOLERANCE),
    }


def empty(h, claim):
    tolerance = [BILLIONTH * np.max(np.abs(h.LIMIT[:, j])) for j in range(2)]
    return {
        ("bias", "value", "f"): row("PASS", 0.0, 0.0, high=tolerance[0]),
        ("bias", "value", "g"): row("PASS", 0.0, 0.0, high=tolerance[1]),
        ("sampling", "", ""): row("INCONCLUSIVE", NAN, NAN),
    }


def _at(setting):
    return f"N={setting.n}, β={setting.beta:.4g}"
