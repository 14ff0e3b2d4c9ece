"""Declaration of the items of a paper: which functions make its tables, figures and pages.

An item is what a paper numbers (a figure, a table) or what we add to it. `items.py` of each paper
declares its items by full dotted names; rules, dependencies, captions of the report and targets
follow from the declarations (`dpnoise_papers.steps`). Nothing here imports what it names.

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

from dataclasses import dataclass, field

PART = "{part}"


@dataclass(frozen=True, kw_only=True)
class _Function:
    """What tables, figures and pages have in common.

    Attributes
    ----------
    function : str
        Full dotted name.
    reads : tuple of str
        Result tables without '.csv': 'figure-4a', or 'other-paper/figure-4a'.
    parts : str
        Where the parts are listed: a setting of the paper, such as 'table_3.tasks'.
    claims : bool
        Whether the function takes the claims of the paper, as keyword `claims`.
    memory : int
        In MB.
    minutes : int
        The longest it should take.
    """

    function: str
    reads: tuple[str, ...] = ()
    parts: str = ""
    claims: bool = False
    memory: int = 500
    minutes: int = 5


@dataclass(frozen=True, kw_only=True)
class Table(_Function):
    """How one or more result tables are made.

    Attributes
    ----------
    settings : tuple of str
        Sections of the paper's settings, each passed as one typed object.
    data : tuple of str
        Data sets.
    makes : tuple of str
        Names of the tables; by default one table with the id of the item.
    for_each : bool
        Whether there is one job for each of the parts.
    statuses : bool
        Whether the function takes the status of each part's data set, as keyword `statuses`.
    threads : int
        How many threads help; where they do, the function takes the keyword `threads`.
    """

    settings: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    for_each: bool = False
    statuses: bool = False
    threads: int = 1
    memory: int = 1000
    minutes: int = 20


@dataclass(frozen=True, kw_only=True)
class Figure(_Function):
    """How a figure is drawn; by default from the tables that the item makes.

    Attributes
    ----------
    printed : tuple of str
        Items whose printed numbers stand beside ours.
    """

    printed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Page(_Function):
    """How a table for people is written; by default from the tables that the item makes.

    Attributes
    ----------
    formats : tuple of str
        Ends of the file names, one for each text.
    """

    formats: tuple[str, ...] = ("md",)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One figure, table or statement of a paper, or of ours beside it.

    Attributes
    ----------
    id : str
        As the paper numbers it: 'figure-3a', 'table-2'. Files are called by it.
    caption : str
        What the reader of the report should know; needed by whatever is shown there.
    table, figure, page : Table, Figure, Page, optional

    Raises
    ------
    ValueError
        If something is shown without a caption, or nothing is made.
    """

    id: str
    caption: str = ""
    table: Table | None = None
    figure: Figure | None = None
    page: Page | None = None

    def __post_init__(self) -> None:
        if not (self.table or self.figure or self.page):
            raise ValueError(f"item {self.id}: expected a table, a figure or a page, got none")
        if (self.figure or self.page) and not self.caption:
            raise ValueError(f"item {self.id}: expected a caption beside its figure or page")

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that the item makes."""
        return (self.table.makes or (self.id,)) if self.table else ()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper and its items.

    Attributes
    ----------
    id : str
        Such as 'inid-2024': its folder in results/ and figures/, its file in published/.
    items : tuple of Item
    shows : tuple of str
        Figures of other papers that belong to this one too, as 'paper/item'.
    """

    id: str
    items: tuple[Item, ...]
    shows: tuple[str, ...] = field(default=())

    @property
    def module(self) -> str:
        """Name of the subpackage and of the section of the settings."""
        return self.id.replace("-", "_")
