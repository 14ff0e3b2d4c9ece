"""Declaration of the items of a paper: which functions make its tables, figures and pages.

An item is what a paper numbers (a figure, a table) or what we add to it. `items.yaml` of each paper
declares its items by names of functions; the Snakefile reads the declarations through
`dpnoise_papers.steps`. Nothing here imports what it names.
Each paper that is reproduced is a subpackage with `items.yaml` and `settings.py`. In the file an
item stands below its id, and a table, figure or page of which nothing but the function is said is
the name of the function.

How the functions are called:

- a table function as `function(*settings, *data, *tables)`, where `data` are data sets (None for
  one that could not be had) and `tables` what `reads` names; it returns one table for each name
  in `makes`,
- a figure function as `function(*tables)`, with a table of the printed numbers of the items in
  `printed` behind; it returns a matplotlib figure,
- a page function as `function(*tables)`; it returns one text for each format.

A name in `reads` that contains `{part}` stands for the tables of all parts and arrives as one
dictionary from part to table. With `for_each` the function runs once for each part, and
`{part}` in `data`, `reads` and `makes` is that part; where no data set is, the function takes it
as keyword `part`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from dpnoise_papers.strict_yaml import read_typed

PART = "{part}"
OWN = "{id}"  # the section of the settings that is named by the id of the item
MODULES = ("flipped_huber_2023", "flipped_huber_slides", "balle_wang_2018", "inid_2024")


@dataclass(frozen=True, kw_only=True)
class _Function:
    """What tables, figures and pages have in common.

    `function` is a full dotted name, or one that starts with a dot, below the subpackage of the
    paper, such as '.tables.variances.vector_variances'; `reads` are result tables without '.csv',
    such as 'figure-4a' or 'other-paper/figure-4a'; `parts` is the setting of the paper that lists
    the parts, such as 'table_3.tasks'. With `claims` the function takes the claims of the paper as
    keyword `claims`. `memory` is in MB.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    function: str
    reads: tuple[str, ...] = ()
    parts: str = ""
    claims: bool = False
    memory: int = 500
    minutes: int = 3


@dataclass(frozen=True, kw_only=True)
class Table(_Function):
    """How one or more result tables are made.

    `settings` are sections of the paper's settings, each passed as one typed object, by default the
    one named by the id of the item, such as 'figure_3a'; `makes` are the names of the tables, by
    default the id. With `for_each` there is one job for
    each of the parts. With `statuses` the function takes the status of each part's data set as
    keyword `statuses`; where several `threads` help, it takes the keyword `threads`. Where the
    setting `device`, such as 'table_4_cifar10.device', is 'cuda', a job asks for a GPU. One that
    takes more than about 10 s is made `alone`; the others of a paper share a process.
    """

    settings: tuple[str, ...] = (OWN,)
    data: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    for_each: bool = False
    statuses: bool = False
    device: str = ""
    threads: int = 1
    alone: bool = False
    memory: int = 1000
    minutes: int = 10


@dataclass(frozen=True, kw_only=True)
class Figure(_Function):
    """How a figure is drawn; by default from the tables that the item makes.

    `printed` are the items whose printed numbers stand beside ours, with `bounds` those that they
    print as bounds ('at least 1.4').
    """

    printed: tuple[str, ...] = ()
    bounds: bool = False


@dataclass(frozen=True, kw_only=True)
class Page(_Function):
    """How a table for people is written; by default from the tables that the item makes.

    `formats` are the ends of the file names, one for each text.
    """

    formats: tuple[str, ...] = ("md",)


def _whole(given: Any) -> Any:  # noqa: ANN401
    """Declaration of a function in full, also if its name alone is given."""
    return {"function": given} if isinstance(given, str) else given


@dataclass(frozen=True, kw_only=True)
class Item:
    """One figure, table or statement of a paper, or of ours beside it.

    `id` is as the paper numbers it: 'figure-3a', 'table-2'; files are called by it. `caption` is
    what the reader of the report should know; whatever is shown there needs it. An item is optional
    if it needs an `extra` of this package: no default target makes it, only the target of its own,
    which has the name `target`, by default that of the extra.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: str
    caption: str = ""
    table: Annotated[Table | None, BeforeValidator(_whole)] = None
    figure: Annotated[Figure | None, BeforeValidator(_whole)] = None
    page: Annotated[Page | None, BeforeValidator(_whole)] = None
    extra: str = ""
    target: str = ""

    def __post_init__(self) -> None:
        """Refuse an item that makes nothing, shows something without a caption, or has a target
        without an extra.
        """
        if not (self.table or self.figure or self.page):
            raise ValueError(f"item {self.id}: expected a table, a figure or a page, got none")
        if (self.figure or self.page) and not self.caption:
            raise ValueError(f"item {self.id}: expected a caption beside its figure or page")
        if self.target and not self.extra:
            raise ValueError(f"item {self.id}: expected an extra beside its target, got none")
        if self.table and OWN in self.table.settings:
            own = self.id.replace("-", "_")
            named = tuple(own if name == OWN else name for name in self.table.settings)
            object.__setattr__(self, "table", replace(self.table, settings=named))
        if not self.target:
            object.__setattr__(self, "target", self.extra)

    def reads(self, kind: str) -> tuple[str, ...]:
        """Tables that its 'table', 'figure' or 'page' reads, as they are declared; none without."""
        declared: _Function | None = getattr(self, kind)
        if declared is None:
            return ()
        return declared.reads or (self.tables if kind != "table" else ())

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that the item makes."""
        return (self.table.makes or (self.id,)) if self.table else ()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper and its items.

    `id`, such as 'inid-2024', names its folder in results/ and figures/ and its file in published/;
    `shows` are figures of other papers that belong to this one too, as 'paper/item'.
    """

    id: str
    items: tuple[Item, ...]
    shows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Complete the names of functions that start with a dot."""
        object.__setattr__(self, "items", tuple(map(self._named_in_full, self.items)))

    def _named_in_full(self, item: Item) -> Item:
        short = {
            kind: declared
            for kind in ("table", "figure", "page")
            if (declared := getattr(item, kind)) and declared.function.startswith(".")
        }
        full = {
            kind: replace(one, function=f"dpnoise_papers.{self.module}{one.function}")
            for kind, one in short.items()
        }
        return replace(item, **full)

    def whole(self, table: str) -> str:
        """Name 'paper/table' of a table that an item reads, perhaps of another paper."""
        foreign = table.split("/", maxsplit=1)[0].replace("-", "_") in MODULES
        return table if foreign else f"{self.id}/{table}"

    @property
    def module(self) -> str:
        """Name of the subpackage and of the section of the settings."""
        return self.id.replace("-", "_")


def _with_ids(given: Any) -> Any:  # noqa: ANN401
    """Items by id, each with its id among its fields."""
    if not isinstance(given, dict):
        return given
    return {
        name: {"id": name, **one} if isinstance(one, dict) else one for name, one in given.items()
    }


class _Declared(BaseModel):
    """Content of an items.yaml."""

    model_config = ConfigDict(extra="forbid")

    id: str
    items: Annotated[dict[str, Item], BeforeValidator(_with_ids)]
    shows: tuple[str, ...] = ()


@cache
def read_paper(path: Path) -> Paper:
    """Declaration of a paper by its items.yaml; YamlError names every mistake of the file."""
    found = read_typed(path, _Declared)
    return Paper(id=found.id, items=tuple(found.items.values()), shows=found.shows)


def papers() -> tuple[Paper, ...]:
    """Declarations of all papers, in the order of MODULES."""
    return tuple(read_paper(Path(__file__).parent / name / "items.yaml") for name in MODULES)
