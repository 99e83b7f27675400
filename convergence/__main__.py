"""The command line: python -m convergence list | run | report | check."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.status import Status
from rich.table import Table
from rich.text import Text

from .errors import ConvergenceError
from .terminal import show_anything

if TYPE_CHECKING:
    from .reporting import Summary
    from .running import Cell

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Decide numerically whether claimed continuum limits are true.",
)
show_anything()
console = Console()

Studies = Annotated[
    list[str] | None,
    typer.Argument(metavar="[STUDY]...", help="Names, or paths of your own; all without any."),
]
Preset = Annotated[str, typer.Option(help="smoke (seconds), standard (minutes), paper (hours).")]
Output = Annotated[Path, typer.Option(help="Folder of the results.")]


@contextmanager
def named_errors() -> Iterator[None]:
    """A named error becomes one line and exit code 2; Ctrl-C, or a SIGTERM, says how to go on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except ConvergenceError as error:
        line = Text(type(error).__name__, "bold red") + Text(f": {error}")
        Console(stderr=True).print(line, soft_wrap=True)
        raise typer.Exit(2) from error
    except KeyboardInterrupt as error:
        console.print("interrupted; finished cells are kept: the same command goes on from there")
        raise typer.Exit(130) from error


@app.command("list")
def list_studies() -> None:
    """Show the studies and their claims."""
    from .reporting.readable import readable
    from .running import find_study, load_study

    with named_errors():
        for name in _names(None):
            with _status(f"loading {name}"):
                study = load_study(find_study(name))
            console.print(Text(name, "bold") + Text(f"  {study.title}"))
            for claim in study.claims:
                _say(f"  {claim.id}: {readable(claim.statement)}")


@app.command()
def run(
    studies: Studies = None,
    preset: Preset = "standard",
    jobs: Annotated[int, typer.Option(help="Worker processes; -1 for all cores.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Root of every cell's seed.")] = 0,
    output: Output = Path("results"),
    device: Annotated[str, typer.Option(help="Where sums are computed: cpu, cuda, auto.")] = "cpu",
    executor: Annotated[
        str, typer.Option(help="Of several jobs: loky (processes), threading or sequential.")
    ] = "loky",
) -> None:
    """Measure claims, judge them, write results. Exits 1 if a claim failed, 2 for bad use."""
    from .backend import resolve_device
    from .reporting import publish
    from .running import find_study, locked, plan, results_folder, run_study
    from .running.study import refuse_shared_folders
    from .verification import Outcome

    with named_errors():
        paths = [find_study(name) for name in _names(studies)]
        refuse_shared_folders(paths)
        workers, device = _worker_count(jobs), resolve_device(device)
        failed = False
        for path in paths:
            folder = results_folder(output, path.stem, preset)
            with _status(f"preparing {path.stem}"):
                cells = plan(path, preset)
            with locked(folder):
                with _progress(path.stem, cells) as progress:
                    measured = run_study(
                        path,
                        preset,
                        folder / "checkpoint.sqlite",
                        seed=seed,
                        jobs=workers,
                        executor=executor,
                        device=device,
                        progress=progress,
                    )
                with _status("judging, drawing"):
                    summaries = publish(measured, path, folder)
            _show_verdicts(f"{measured.study.title} ({preset})", summaries)
            _say(f"written to {folder}")
            failed |= any(s.outcome == Outcome.FAIL for s in summaries)
        raise typer.Exit(1 if failed else 0)


@app.command()
def report(
    studies: Studies = None,
    output: Output = Path("results"),
    preset: Preset = "standard",
    readme: Annotated[
        Path,
        typer.Option(help="README whose table of claims is renewed from results/ at standard."),
    ] = Path("README.md"),
) -> None:
    """Make figures, tables and the README's table of claims again, from the cells on disk."""
    from .reporting import LEDGER, ledger_sections, read_published, write_ledger, write_report
    from .running import locked

    with named_errors():
        for name in studies or _published_names(output, preset):
            with _status(f"judging and drawing {name}"):
                measured, folder = read_published(name, output, preset)
                with locked(folder):
                    write_report(measured, folder)
            _say(f"remade {folder}")
        shown = output == Path("results") and preset == "standard"  # what a README shows
        if shown and readme.is_file() and LEDGER[0] in readme.read_text(encoding="utf-8"):
            write_ledger(readme, ledger_sections(output))
            _say(f"renewed the table in {readme}")


@app.command()
def check(
    studies: Studies = None,
    output: Output = Path("results"),
    preset: Preset = "standard",
) -> None:
    """Judge published cells anew and compare with the published verdicts. Exits 1 on a change."""
    from .reporting import audit, other_code, read_published, summarise
    from .running import find_study
    from .verification import Outcome

    with named_errors():
        bad = False
        for name in studies or _published_names(output, preset):
            with _status(f"judging {name}"):
                measured, folder = read_published(name, output, preset)
                summaries = summarise(measured, measured.verdicts())
                changes = audit(measured, folder)
                note = other_code(measured, find_study(name))
            _show_verdicts(f"{measured.study.title} (published)", summaries)
            for line in [*changes, *([note] if note else [])]:
                _say(line)
            bad |= bool(changes) or any(s.outcome == Outcome.FAIL for s in summaries)
        raise typer.Exit(1 if bad else 0)


def run_file(path: str) -> None:
    """The main program of a study file: the same options as `run`, the study being given."""
    app(args=["run", path, *sys.argv[1:]])


def _names(studies: list[str] | None) -> list[str]:
    from .errors import StudyError
    from .running import study_files

    names = studies or list(study_files())
    if not names:
        raise StudyError(
            "no studies found: neither a folder `studies` here nor one beside the package (an "
            "installed wheel has none); work in a checkout, or give `run` the path of a study file"
        )
    return names


def _published_names(output: Path, preset: str) -> list[str]:
    from .errors import StudyError
    from .reporting import published

    names = list(published(output, preset))
    if not names:
        raise StudyError(
            f"no results at preset {preset} in {output}; run: python -m convergence run "
            f"--preset {preset} --output {output}"
        )
    return names


def _worker_count(jobs: int) -> int:
    import joblib

    from .errors import InvalidInputError

    if jobs == 0 or jobs < -1:
        raise InvalidInputError(
            f"--jobs must be a positive number, or -1 for all cores, not {jobs}"
        )
    return joblib.cpu_count() if jobs == -1 else jobs


@contextmanager
def _progress(name: str, cells: list[Cell]) -> Iterator[Callable[[Cell, bool], None]]:
    """A bar weighted by sample sizes, with the time left; cells kept from before do not count."""
    total = sum(cell.n for cell in cells)
    kept = 0
    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
    with bar:
        task = bar.add_task(escape(name), total=total)

        def advance(cell: Cell, was_kept: bool) -> None:
            nonlocal total, kept
            if was_kept:
                total, kept = total - cell.n, kept + 1
                bar.update(task, total=total, description=f"{escape(name)} ({kept} cells kept)")
            else:
                bar.advance(task, cell.n)

        yield advance


def _show_verdicts(title: str, summaries: list[Summary]) -> None:
    """The table of verdicts, and a line for every decision that is not a PASS."""
    from .verification import Outcome

    marks = {
        Outcome.PASS: ("green", "✓"),
        Outcome.FAIL: ("bold red", "✗"),
        Outcome.INCONCLUSIVE: ("yellow", "?"),
    }
    caption = "✓ pass   ✗ fail   ? inconclusive"
    table = Table(title=Text(title), caption=caption, box=None, padding=(0, 1, 0, 0))
    checks = list(dict.fromkeys(check for s in summaries for check in s.checks))
    for column in ("claim", "verdict", *checks, "slope", "sees", "of parts"):
        table.add_column(column, no_wrap=True)
    for s in summaries:
        found = [s.checks.get(check) for check in checks]
        ticks = ["[{}]{}[/]".format(*marks[outcome]) if outcome else "" for outcome in found]
        verdict = f"[{marks[s.outcome][0]}]{s.outcome.value}[/]"
        table.add_row(Text(s.id), verdict, *ticks, s.slope, s.sees, s.sees_parts)
    wide = console.options.update(max_width=200)
    needed = console.measure(table, options=wide).maximum
    Console(width=None if console.is_terminal else max(80, needed)).print(table)
    for reason in (reason for s in summaries for reason in s.reasons):
        _say(reason)


def _say(line: str) -> None:
    """A line as it stands: names and statements are no markup."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _status(doing: str) -> Status:
    return console.status(Text(doing))


if __name__ == "__main__":
    app()
