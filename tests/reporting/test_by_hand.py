"""A run made by hand: its verdicts and tables hold the numbers that plain NumPy works out."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from convergence.reporting import publish, summarise
from convergence.reporting.tables import CAPTION, latex_table, markdown_table
from convergence.running.results import CELLS, REFERENCES

NUMBERS = ("measured", "predicted", "low", "high", "p_value", "level", "sees")
HEADS = (
    "claim", "order in $1/\\beta$", "slope", "predicted", "mean", "variance", "off curve",
    "residual", "faults", "sees", "of parts", "verdict",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(handmade, tmp_path_factory):
    """What is published of the run."""
    folder = tmp_path_factory.mktemp("handmade")
    publish(handmade.run(), Path(handmade.__file__), folder)
    return folder


def test_verdicts_on_disk(folder, expected):
    with (folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        found = {
            (r["claim"], r["check"], r["quantity"], r["function"]): r for r in csv.DictReader(file)
        }
    assert set(found) == set(expected)
    for key, row in expected.items():
        assert found[key]["outcome"] == row["outcome"], key
        for name in NUMBERS:
            if key[2] == "exponent" and key[0] == "known" and name in ("low", "high"):
                continue
            one = float(found[key][name] or "nan")
            assert one == pytest.approx(row[name], rel=1e-6, abs=1e-9, nan_ok=True), (key, name)
    told = {r["outcome"] for r in found.values()}
    assert told == {"PASS", "FAIL", "INCONCLUSIVE"}  # or the tables would show less


def test_references_on_disk(handmade, folder):
    """Of every setting, target and function, in columns that say what they hold."""
    with (folder / REFERENCES).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    count = 0
    for row in rows:
        n, beta, i, j = int(row["n"]), float(row["beta"]), int(row["target"]), int(row["function"])
        expected = [0.0, 0.0, np.nan, np.nan, np.nan]
        if row["claim"] != "identity":
            limit = handmade.LIMIT[i, j]
            expected[:2] = limit + handmade.BIAS[i, j] / beta, limit
        if row["claim"] == "known":
            unit = 4 + 2 * i + j
            expected[2:] = 3 * unit / n, unit / np.sqrt(n), (2 + i) * n**0.75
        names = ("expectation", "limit", "shift", "sd", "effective_degree")
        found = [float(row[name]) for name in names]
        np.testing.assert_allclose(found, expected, rtol=1e-11)
        count += row["check"] == "sampling"
    assert (len(rows), count) == (6 * (5 + 4) + 2 * 3, 6 * (2 + 1))


def test_cells_on_disk(handmade, folder):
    """Every value where its claim, setting, replicate, target and function say."""
    with gzip.open(folder / CELLS, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("claim", "check", "n", "beta", "replicate", "target", "function")
    found = {tuple(row[name] for name in names): float(row["value"]) for row in rows}
    expected = {
        tuple(map(str, (cell.claim, cell.check, cell.n, cell.beta, cell.replicate, i, j))): value
        for claim in handmade.STUDY.claims
        for cell in handmade.cells_of("handmade", claim, claim.schedules["standard"])
        for (i, j), value in np.ndenumerate(handmade.values(cell))
    }
    assert len(rows) == len(found)
    assert found == pytest.approx(expected, rel=1e-11)
    assert {row["status"] for row in rows} == {"ok"}


def brackets(value, quarter):
    """With two digits of a quarter of the 95 % interval."""
    decimals = 0
    while quarter * 10**decimals < 9.95:
        decimals += 1
    return f"{value:.{decimals}f}({quarter * 10**decimals:.0f})"


def two_digits(share):
    """In percent, 2 for 2.0 and 130 for 129."""
    size = 100 * share
    return f"{round(size, 1 - int(np.floor(np.log10(size)))):g} %"


def quarter(row):
    return brackets(row["measured"], (row["high"] - row["low"]) / 4)


@pytest.fixture(scope="module")
def cells(expected):
    """The text of every cell of the table, by claim and head."""

    def of(claim, check, start):
        return [
            row
            for (id, its, quantity, _), row in expected.items()
            if (id, its) == (claim, check) and quantity.startswith(start)
        ]

    def worst(*key):
        return min(of(*key), key=lambda row: row["p_value"])

    def sees(claim, quantity):
        return two_digits(max(row["sees"] for row in of(claim, "sampling", quantity)))

    found = {}
    for claim in ("known", "replicates"):
        order = of(claim, "bias", "order")[0]
        furthest = max(of(claim, "bias", "order"), key=lambda row: row["high"])
        assert brackets(1.0, order["high"] - 1) == brackets(1.0, furthest["high"] - 1)
        slope, mean = worst(claim, "joint", "slope"), worst(claim, "sampling", "mean")
        found[claim] = {
            "order in $1/\\beta$": brackets(1.0, order["high"] - 1),
            "slope": quarter(slope),
            "predicted": f"{slope['predicted']:.4f}",
            "mean": quarter(mean),
        }
    whole = [row for k, row in expected.items() if k[0] == "known" and k[2] == "factor"]
    curve = of("known", "joint", "RMSE")
    found["known"] |= {
        "variance": quarter(worst("known", "sampling", "variance")),
        "off curve": two_digits(max(abs(row["measured"] - 1) for row in curve)),
        "faults": "2/3",
        "sees": two_digits(max(row["sees"] for row in whole)),
        "of parts": f"drift {sees('known', 'factor of the drift')}",
        "verdict": "FAIL",
    }
    whole = [row for k, row in expected.items() if k[0] == "replicates" and k[2] == "factor"]
    found["replicates"] |= {
        "faults": "2/2",
        "sees": two_digits(max(row["sees"] for row in whole)),
        "of parts": f"drift {sees('replicates', 'factor of the drift')}, "
        f"curvature {sees('replicates', 'factor of the curvature')}",
        "verdict": "FAIL",
    }
    found["identity"] = {"residual": "4.0e-12", "faults": "1/1", "verdict": "FAIL"}
    found["empty"] = {"faults": "0/0", "verdict": "INCONCLUSIVE"}
    return found


def table(handmade, cells, statement, cell):
    """Lines of cells, each passed through a function."""
    return [
        [statement(claim.statement)] + [cell(cells[claim.id].get(head, "-")) for head in HEADS[1:]]
        for claim in handmade.STUDY.claims
    ]


def test_the_markdown_table(handmade, cells, folder):
    lines = table(handmade, cells, str, str)
    text = "".join(f"| {' | '.join(line)} |\n" for line in [HEADS, ["---"] * 12, *lines])
    assert (folder / "table.md").read_text(encoding="utf-8") == text


def test_the_latex_table(handmade, cells, folder):
    def words(text):
        for plain, escaped in ((" %", "\\,\\%"), ("A_1", "A\\_1"), ("& ", "\\& "), ("#", "\\#")):
            text = text.replace(plain, escaped)
        return text

    def number(text):
        return words("$-$" + text[1:] if text[0] == "-" and len(text) > 1 else text)

    lines = [f"    {' & '.join(line)} \\\\" for line in table(handmade, cells, words, number)]
    text = (folder / "table.tex").read_text(encoding="utf-8")
    top, rest = text.split("    \\toprule\n")
    body, bottom = rest.split("    \\bottomrule\n")
    assert body.splitlines() == [f"    {' & '.join(HEADS)} \\\\", "    \\midrule", *lines]
    assert "{@{}l" + 10 * "r" + "l@{}}" in top
    assert f"\\caption{{By hand: 100\\,\\% of A\\_1 \\& \\#2. {CAPTION}}}" in top
    assert bottom == "  \\end{tabular}\n\\end{table*}\n"


def test_reasons_name_what_did_not_pass(handmade, expected):
    """One line a decision that is no PASS, with its numbers."""
    run = handmade.run()
    for summary in summarise(run, run.verdicts()):
        rows = {k: r for k, r in expected.items() if k[0] == summary.id and r["outcome"] != "PASS"}
        assert len(summary.reasons) == len(rows)
        for line, ((id, check, quantity, function), r) in zip(
            summary.reasons, rows.items(), strict=True
        ):
            of = f" of {function}" if function else ""
            assert line.startswith(f"{r['outcome']} {id}, {check}: {quantity}{of}: ")
            if np.isfinite(r["measured"]):
                assert f"measured {r['measured']:.4g}, predicted {r['predicted']:.4g}" in line
            if np.isfinite(r["p_value"]):
                assert f"p = {r['p_value']:.2g} at level {r['level']:.2g}" in line


def test_only_columns_that_some_claim_fills_are_shown(handmade):
    run = handmade.run()
    identity = [s for s in summarise(run, run.verdicts()) if s.id == "identity"]
    assert markdown_table(identity).splitlines()[0] == "| claim | residual | faults | verdict |"
    assert latex_table("One", identity).count("&") == 2 * 3
