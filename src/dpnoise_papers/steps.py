"""Steps of the pipeline, derived from the declared items: what each reads, calls and writes.

The rules in workflow/rules go through these steps; no item is named anywhere else. Paths start
with <results>, <figures>, <logs> or <benchmarks>, which Snakemake replaces.

An optional item needs an extra that the default run neither installs nor waits for. Its table is
made by a target of its own (`make deep`), in an environment that has the extra. The verdicts of a
later default run count it, without that run trying to make it; one that was made with other
settings than those in force counts as not made. For that, each optional table has a column
`settings_digest` with the digest of the settings behind it.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dpnoise_papers.config import sections, settings_digest
from dpnoise_papers.item import MODULES, PART, Figure, Item, Page, Paper, Table
from dpnoise_papers.making import file_digest, find_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dpnoise_papers.settings import Section

    Kind = Literal["table", "figure", "page"]


DIGEST = "settings_digest"
_DIGITS = 16


class OptionalTable(NamedTuple):
    """An optional table: what makes it, the digest of the settings in force, its job's record.

    The record is that of `stem` (`dpnoise_papers.making`).
    """

    extra: str
    target: str
    digest: str
    stem: str


def targets(papers: tuple[Paper, ...]) -> list[str]:
    """Sorted names of the targets of optional items."""
    return sorted({item.target for paper in papers for item in paper.items if item.extra})


def digest_behind(config: Section, papers: tuple[Paper, ...], paper: Paper, item: Item) -> str:
    """Digest of the settings of an item and of all items whose tables it reads, at any distance."""
    found: dict[str, object] = {}
    behind = [(paper, item)]
    for owner, one in behind:  # grows below
        table = one.table or Table(function="")
        for name, section in sections(config, owner.module, table.settings).items():
            found[f"{owner.id}.{name}"] = section
        behind += [
            (other, made)
            for other in papers
            for made in other.items
            if (other, made) not in behind
            and any(
                _is_read(f"{other.id}/{name}", read, owner.id)
                for name in made.tables
                for read in table.reads
            )
        ]
    return settings_digest(found)[:_DIGITS]


def _is_read(table: str, read: str, paper: str) -> bool:
    """Whether a name in `reads` of an item of a paper is a table, such as 'paper/runs/{part}'."""
    pattern = re.escape(table).replace(re.escape(PART), ".+")
    return any(re.fullmatch(pattern, name) for name in (read, f"{paper}/{read}"))


def optional_tables(config: Section, papers: tuple[Paper, ...]) -> dict[str, OptionalTable]:
    """Optional tables by their path below results/; not those that are made in parts."""
    return {
        f"{paper.id}/{name}.csv": OptionalTable(
            item.extra,
            item.target,
            digest_behind(config, papers, paper, item),
            f"{paper.id}/{item.id}-table",
        )
        for paper in papers
        for item in paper.items
        for name in item.tables
        if item.extra and PART not in name
    }


def standing(
    tables: Mapping[str, OptionalTable], folder: str | Path, *, recorded: bool = True
) -> dict[str, dict[str, str]]:
    """State of optional tables in the folder of results, by path.

    'content' is the sha256 of a table that counts, else empty; 'reason' is why it does not count.
    A table that is not what its record says does not; copies have none (`recorded=False`).
    """
    states = {}
    for path, table in sorted(tables.items()):
        file = Path(folder) / path
        reason = _reason(file, table)
        content = "" if reason else file_digest(file)
        if recorded and content:
            record = find_record(folder, table.stem)
            if record is None or record.outputs.get(str(file)) != content:
                content = ""
                how = "changed since it was made" if record else "of unknown origin"
                reason = f"{file} is {how}; `make {table.target}` makes it again"
        states[path] = {"content": content, "reason": reason}
    return states


def _reason(file: Path, table: OptionalTable) -> str:
    """Why a table does not count, or nothing."""
    needs = f"no part of the default run, because it needs the extra {table.extra!r}"
    again = f"`make {table.target}` makes it"
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            digests = {row.get(DIGEST) for row in csv.DictReader(stream)}
    except FileNotFoundError:
        return f"{file} is {needs}; {again}"
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return f"{file} cannot be read ({error}); {again}"
    if not digests:
        missing = "its data or device could not be had"
        return f"{file} has no rows, because {missing}; once they can, {again}"
    if digests != {table.digest}:
        return f"{file} was made with other settings than those in force; {again} again"
    return ""


PUBLISHED = "published"
_NAMED = 5  # claims in a message
FORMATS = ("svg", "pdf", "png")
# Who reads the data of an item, by the folder below data/prepared.
_READERS = {
    "city": "dpnoise_papers.data.city.read_city",
    "images": "dpnoise_papers.data.images.read_images",
}
_READER = "dpnoise_papers.data.sets.read_prepared"
_CLAIMS = "dpnoise_papers.claims.published.read_claims"
_BESIDE = "dpnoise_papers.claims.judge.printed_beside"
_BOUNDS = "dpnoise_papers.claims.judge.bounds_beside"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One rule of the pipeline.

    `declared` has its function and resources, `inputs` are lists of paths by kind (tables, npz,
    status, claims), `params` what the script is told, as plain values in a fixed order; `parts` are
    the values of the wildcard `part`, if there is one; `resources` are those beside memory and
    time, by Snakemake's names.
    """

    paper: str
    item: str
    kind: Kind
    declared: Table | Figure | Page
    inputs: Mapping[str, list[str]]
    outputs: list[str]
    params: Mapping[str, Any]
    parts: list[str]
    resources: Mapping[str, int]

    @property
    def rule(self) -> str:
        """Name of the rule, such as 'inid_2024_figure_1a_table'."""
        return f"{self.paper}_{self.item}_{self.kind}".replace("-", "_")

    @property
    def functions(self) -> list[str]:
        """Full dotted names of what the script calls."""
        told = self.params
        names = [told["function"], told["claims"], told.get("data", "")]
        if "module" in told:  # settings are read by name
            names.append(f"dpnoise_papers.{told['module']}.settings.Settings")
        return [name for name in names if name]

    @property
    def stem(self) -> str:
        """Path of the log and of the benchmark without folder and end."""
        part = f"-{PART}" if self.parts else ""
        return f"{self.paper}/{self.item}{part}-{self.kind}"


def steps(config: Section, papers: tuple[Paper, ...], kind: Kind) -> Iterator[Step]:
    """Steps of one kind: 'table', 'figure' or 'page'."""
    for paper in papers:
        for item in paper.items:
            declared = getattr(item, kind)
            if declared is None:
                continue
            names = declared.reads or (() if kind == "table" else item.tables)
            swept = kind == "table" and declared.for_each
            listed = parts(config, paper, declared.parts) if declared.parts else []
            groups = [listed if PART in name and not swept else [] for name in names]
            yield Step(
                paper=paper.id,
                item=item.id,
                kind=kind,
                declared=declared,
                inputs=_inputs(paper, declared, names, listed, groups),
                outputs=outputs(paper, item, kind),
                params={"function": declared.function, "paper": paper.id, "groups": groups}
                | _told(config, papers, paper, item, declared),
                parts=listed if swept else [],
                resources=_resources(config, paper, declared),
            )


def outputs(paper: Paper, item: Item, kind: Kind) -> list[str]:
    """Files that an item has of one kind, with the wildcard `part` in swept ones."""
    if getattr(item, kind) is None:
        return []
    if kind == "table":
        return [_table(paper, name) for name in item.tables]
    if kind == "figure":
        return [f"<figures>/{paper.id}/{item.id}.{end}" for end in FORMATS]
    formats = item.page.formats if item.page else ()
    return [f"<results>/{paper.id}/{item.id}.{end}" for end in formats]


def target(config: Section, paper: Paper, name: str = "") -> list[str]:
    """Every file of a paper, or those of its optional items whose target has a name."""
    shown = () if name else paper.shows
    files = [f"<figures>/{figure}.{end}" for figure in shown for end in FORMATS]
    for item in (item for item in paper.items if item.target == name):
        listed = parts(config, paper, item.table.parts) if item.table and item.table.parts else []
        for kind in ("table", "figure", "page"):
            for path in outputs(paper, item, kind):
                files += [path.replace(PART, part) for part in listed] if PART in path else [path]
    return files


def named_results(
    config: Section, papers: tuple[Paper, ...], templates: list[str], name: str = ""
) -> list[str]:
    """Every result table that a claim, a cause or a document names, without optional ones.

    `templates` holds the paths of the templates of documents. With the `name` of a
    target of optional items: the tables that claims about its tables, and their causes, name,
    without those of other targets. ValueError if no item makes one of the tables.
    """
    from dpnoise_papers.claims.published import about, read_published  # noqa: PLC0415  # heavy
    from dpnoise_papers.claims.quantity import places  # noqa: PLC0415  # heavy
    from dpnoise_papers.claims.references import named_tables  # noqa: PLC0415

    texts = [Path(one).read_text(encoding="utf-8") for one in templates]
    published, optional = read_published(PUBLISHED), optional_tables(config, papers)
    own = {path for path, table in optional.items() if table.target == name}
    tables = named_tables(about(published, own) if name else published, *texts)
    made = {path for paper in papers for path in target(config, paper)} | {"<results>/datasets.csv"}
    unknown = [f"<results>/{path}" for path in tables if path not in optional]
    unknown = [path for path in unknown if path not in made]
    if unknown:
        rows = [
            f"{where}: {one.result}"
            for one, where in zip(published.claims, places(published.claims), strict=True)
            if f"<results>/{one.result}" in unknown
        ]
        rows[_NAMED:] = [f"and {len(rows) - _NAMED} more"] if len(rows) > _NAMED else []
        named = "; ".join(rows) or ", ".join(unknown)
        near = get_close_matches(unknown[0], made, n=3)
        hint = f"; the nearest: {', '.join(near)}" if near else ""
        message = f"{PUBLISHED}: no item makes {named}{hint}"
        raise ValueError(message.replace("<results>/", ""))
    return [f"<results>/{path}" for path in tables if path in own or path not in optional]


def verdicts(config: Section, papers: tuple[Paper, ...], name: str) -> list[str]:
    """The verdicts about the tables of a target of optional items; none without a claim."""
    return [f"<results>/verdicts-{name}.csv"] if named_results(config, papers, [], name) else []


def parts(config: Section, paper: Paper, where: str) -> list[str]:
    """Parts that a setting lists: the keys of a mapping, sorted, or the values of a list.

    `where` is such as 'table_3.tasks', or 'flipped_huber_2023.table_3.tasks' of another paper.
    """
    value = _setting(config, paper, where)
    return sorted(value) if isinstance(value, dict) else [str(one) for one in value]


def _setting(config: Section, paper: Paper, where: str) -> Any:  # noqa: ANN401
    """Value of a setting of a paper, or, by a name that starts with it, of another."""
    names = where.split(".")
    value: Any = config if names[0] in MODULES else getattr(config, paper.module)
    for name in names:
        value = getattr(value, name)
    return value


def _resources(config: Section, paper: Paper, declared: Table | Figure | Page) -> dict[str, int]:
    """A GPU, where a table is made on one."""
    where = declared.device if isinstance(declared, Table) else ""
    return {"gpu": 1} if where and _setting(config, paper, where) == "cuda" else {}


def _inputs(
    paper: Paper,
    declared: Table | Figure | Page,
    names: tuple[str, ...],
    listed: list[str],
    groups: list[list[str]],
) -> dict[str, list[str]]:
    tables = []
    for name, group in zip(names, groups, strict=True):
        path = _table(paper, name)
        tables += [path.replace(PART, part) for part in group] if group else [path]
    found = {"tables": tables}
    if isinstance(declared, Table):
        found["npz"] = [f"data/prepared/{name}.npz" for name in declared.data]
        sets = listed if declared.statuses else declared.data
        found["status"] = [f"data/prepared/{name}.json" for name in sets]
    if declared.claims or (isinstance(declared, Figure) and declared.printed):
        beside = [f"{PUBLISHED}/words.yaml", f"{PUBLISHED}/{paper.id}.paragraphs.yaml"]
        found["claims"] = [
            f"{PUBLISHED}/{paper.id}.csv",
            *(one for one in beside if Path(one).is_file()),
        ]
    return {kind: paths for kind, paths in found.items() if paths}


def _told(
    config: Section,
    papers: tuple[Paper, ...],
    paper: Paper,
    item: Item,
    declared: Table | Figure | Page,
) -> dict[str, Any]:
    claims = _CLAIMS if declared.claims else ""
    if isinstance(declared, Table):
        kept = item.extra and not declared.for_each
        digest = {"digest": digest_behind(config, papers, paper, item)} if kept else {}
        by_part = declared.for_each and not any(PART in name for name in declared.data)
        return {
            "by_part": by_part,
            "claims": claims,
            "data": _READERS.get(declared.data[0].split("/")[0], _READER) if declared.data else "",
            "module": paper.module,
            "settings": _own_part(
                sections(config, paper.module, declared.settings),
                declared.parts if declared.for_each else "",
            ),
            "statuses": declared.statuses,
            "threaded": declared.threads > 1,
        } | digest
    if isinstance(declared, Figure):
        printed = list(declared.printed)
        beside = _BOUNDS if declared.bounds else _BESIDE
        return {"caption": item.caption, "claims": beside if printed else "", "printed": printed}
    return {"caption": item.caption, "claims": claims}


def _own_part(settings: dict[str, dict[str, Any]], where: str) -> object:
    """Settings of a swept job without those of other parts, whose change must not rerun it."""
    section, _, field = where.partition(".")
    listed = settings.get(section, {}).get(field)
    if not isinstance(listed, dict):
        return settings

    def of_part(wildcards: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401
        own = {wildcards.part: listed[wildcards.part]}
        return settings | {section: settings[section] | {field: own}}

    return of_part


def _table(paper: Paper, name: str) -> str:
    """Path of a result table, of another paper where the name starts with its id."""
    foreign = name.split("/", maxsplit=1)[0].replace("-", "_") in MODULES
    return f"<results>/{name}.csv" if foreign else f"<results>/{paper.id}/{name}.csv"
