"""What the user asked for."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

__all__ = [
    "AUTO",
    "COMPARISON",
    "FEWEST_FOLDS",
    "LEDGER",
    "OUT",
    "PARTS",
    "CompareRequest",
    "Deliver",
    "Request",
    "Rule",
    "Task",
    "TuneRequest",
]

OUT = Path("steadycv-results")
COMPARISON = Path("steadycv-comparison")
LEDGER = "ledger.sqlite"
AUTO = "auto"
PARTS = 10  # one of which is tested on
FEWEST_FOLDS = 3  # two can be left out, and one remains


class Task(StrEnum):
    """What is predicted: a class, or a number."""

    classification = "classification"
    regression = "regression"


class Deliver(StrEnum):
    """What is saved: the choice fitted on all data, or what the fits of the search come to."""

    model = "model"
    committee = "committee"
    ensemble = "ensemble"
    student = "student"


class Rule(StrEnum):
    """What chooses the stability weight, or a candidate."""

    steady = "steady"
    paper = "paper"
    plain = "plain"
    one_standard_error = "one_standard_error"


@dataclass(frozen=True)
class Request:
    """What every command that searches on a table is asked, as its options."""

    name: ClassVar[str]
    data: Path | None = None
    target: str | None = None
    model: tuple[str, ...] = ("cart",)
    task: Task | None = None
    table: str | None = None
    keep: tuple[str, ...] = ()
    merge_rare: bool = False
    groups: str | None = None
    time: str | None = None
    grid: Path | None = None
    scoring: str | None = None
    folds: int = 5
    seed: int = 0
    jobs: int = 1

    @property
    def delivers(self) -> tuple[Deliver, ...]:
        """The kinds of delivery that are asked for."""
        return ()

    @property
    def rows_a_class(self) -> int:
        """How many rows a class needs, so that each fold can have one."""
        return self.folds

    def command(self, **changes: Any) -> str:
        """The command that asks for this."""
        words = ["steadycv", self.name]
        if self.data is not None:
            words.append(str(self.data))
        for each in fields(self)[1:]:
            value = changes.get(each.name, getattr(self, each.name))
            if value == each.default or value is None:
                continue
            option = f"--{each.name.replace('_', '-')}"
            if each.name == "keep":  # names of columns can have commas
                words += [word for one in value for word in (option, one)]
            elif isinstance(value, tuple):
                words += [option, ",".join(value)]
            else:
                words += [option] if value is True else [option, str(value)]
        return shlex.join(words)


@dataclass(frozen=True)
class TuneRequest(Request):
    """What ``steadycv tune`` is asked."""

    name: ClassVar[str] = "tune"
    weights: str = AUTO
    rule: Rule = Rule.steady
    deliver: Deliver = Deliver.model
    search: str = "grid"
    repeats: int = 1
    out: Path = OUT
    resume: Path | None = None
    mlflow: bool = False
    widen: bool = False
    tune_threshold: bool = False

    @property
    def delivers(self) -> tuple[Deliver, ...]:
        """The one kind."""
        return (self.deliver,)

    @property
    def splits(self) -> str:
        """How rows are split, in words."""
        if self.time is not None:
            return f"{self.folds} splits forward in time, by {self.time}"
        together = "" if self.groups is None else f", rows with the same {self.groups} together"
        repeats = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"{self.folds} folds at random{repeats}{together}"

    @property
    def ledger(self) -> Path:
        """The file from which an interrupted run goes on."""
        return self.resume or self.out / LEDGER

    def ledger_of(self, model: str) -> Path:
        """A model's ledger: of several models each has one."""
        path = self.ledger
        return path.with_name(f"{path.stem}-{model}{path.suffix}") if len(self.model) > 1 else path


@dataclass(frozen=True)
class CompareRequest(Request):
    """What ``steadycv compare`` is asked."""

    name: ClassVar[str] = "compare"
    deliver: tuple[Deliver, ...] = (Deliver.committee, Deliver.ensemble, Deliver.student)
    splits: int | None = None
    out: Path = COMPARISON

    @property
    def delivers(self) -> tuple[Deliver, ...]:
        """The kinds, besides the choices."""
        return tuple(each for each in self.deliver if each != Deliver.model)

    @property
    def rows_a_class(self) -> int:
        """How many rows a class needs, so that the part that is not tested on has enough."""
        return self.folds + math.ceil(self.folds / (PARTS - 1))

    @property
    def how(self) -> str:
        """What is tuned on and tested on, in words."""
        if self.time is not None:
            return f"tuned on what came before by {self.time}, tested on what came next"
        together = "" if self.groups is None else f", rows with the same {self.groups} together"
        return f"tuned on about nine tenths of the rows, tested on the others{together}"
