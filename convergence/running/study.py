"""A study: claims in a Python file. The file's name is the study's name."""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import convergence

from ..errors import ConvergenceError, StudyError, require_tuple
from ..verification import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Study:
    """Claims that are run, judged and published together.

    Attributes
    ----------
    title : str
    claims : tuple of Claim
    figures : mapping, optional
        Further figures of the study by file name: a function of the `Run` that draws one.
    """

    title: str
    claims: tuple[Claim, ...]
    figures: Mapping[str, Callable[[Any], Figure]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_tuple("a study's claims", self.claims, Claim)
        if not isinstance(self.title, str):
            raise StudyError(f"a study's title is text, not {self.title!r}")
        for claim in self.claims:
            _refuse_bad_id(claim.id)
        _refuse_bad_figures(self.figures)
        repeated = [id for id, count in Counter(c.id for c in self.claims).items() if count > 1]
        if repeated or not self.claims:
            raise StudyError(f"a study needs claims with distinct ids; repeated: {repeated}")

    def claim(self, id: str) -> Claim:
        return next(claim for claim in self.claims if claim.id == id)


def _refuse_bad_id(id: Any) -> None:
    """An id stands in tables, legends and messages as it is."""
    if not isinstance(id, str) or not id[:1].isalnum() or id != id.strip() or not id.isprintable():
        raise StudyError(
            f"the id of a claim is printable text that begins with a letter or digit, not {id!r}"
        )
    if set(id) & set("/\\$"):
        raise StudyError(f"the id of a claim holds no /, \\ or $, as {id!r} does")


def _refuse_bad_figures(figures: Any) -> None:
    """A figure is a function of a run, and its name that of a file in the study's folder."""
    if not isinstance(figures, Mapping):
        raise StudyError(f"a study's figures are a dict: {{'name': function}}, not {figures!r}")
    for name, draw in figures.items():
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w .-]*", name):
            raise StudyError(
                f"the name of a figure is a file name without folder or ending, not {name!r}"
            )
        if name == "figure":
            raise StudyError("the figure named 'figure' is the suite's own: choose another name")
        try:
            inspect.signature(draw).bind(None)
        except (TypeError, ValueError) as error:
            raise StudyError(f"figure {name!r} is no function of a run: {error}") from error


@lru_cache(maxsize=64)
def load_study(path: Path) -> Study:
    """The object named STUDY in a Python file.

    Raises
    ------
    StudyError
        When the file is missing, does not run, or defines no STUDY.
    """
    if not path.is_file():
        raise StudyError(f"{path} is no Python file with a study")
    name = f"study_{path.stem}"
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = str(path)
    if str(path.parent) not in sys.path:  # modules beside the study, as for any script
        sys.path.insert(0, str(path.parent))
    try:
        # compiled here: cached bytecode may be older than the text
        exec(compile(path.read_bytes(), path, "exec"), module.__dict__)
    except ConvergenceError:
        raise
    except (Exception, SystemExit) as error:
        raise StudyError(f"{path} does not run: {type(error).__name__}: {error}") from error
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise StudyError(f"{path} defines no STUDY = Study(title=..., claims=(...))")
    return study


def study_files() -> dict[str, Path]:
    """The project's studies by name: from ./studies, else from beside the installed package."""
    for root in (Path.cwd(), Path(convergence.__file__).resolve().parent.parent):
        found = sorted((root / "studies").glob("[!_]*.py"))
        if found:
            return {path.stem: path for path in found}
    return {}


def find_study(name: str) -> Path:
    """The file of a study given by name or by path.

    Raises
    ------
    StudyError
        When there is none.
    """
    path = Path(name)
    if path.suffix == ".py":
        return path.resolve()
    known = study_files()
    if name not in known:
        listed = ", ".join(known) or "none found here"
        raise StudyError(
            f"unknown study {name!r}; known: {listed}. Give a path ending in .py for your own"
        )
    return known[name]


def refuse_shared_folders(paths: list[Path]) -> None:
    """Say so where files of one name, and so one folder of results, are asked for together.

    Raises
    ------
    StudyError
    """
    for name, count in Counter(path.stem for path in paths).items():
        if count > 1:
            raise StudyError(f"{count} studies named {name!r} would write into one folder")
