"""What the Snakefile asks of the declared items: rules, what each job is told, what is left out.

A call is what one function is told, as plain values, and the params of a job: the item's own
sections of the config, the paths that it reads and those that it makes. A job makes the calls of
one item, of one data set or hour, or of all cheap items of a paper.

A data set without a local copy is left out of a default run, with what is made of it; its own job,
which may ask its official address, is asked for instead, and fails where that has none. A summary
that is asked for by name needs the data of all its parts. An optional item has a target of its own
(`make deep`); the verdicts of a default run count its tables where they exist.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise_papers.config import load_run, places, sections
from dpnoise_papers.data.copies import Sources
from dpnoise_papers.item import MODULES, PART, Paper, Table, papers
from dpnoise_papers.making import code_digest
from dpnoise_papers.result_files import file_digest, settings_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Call = dict[str, Any]

DIGEST = "settings_digest"  # column of a table that needs an extra: whether it is up to date
PUBLISHED = "published"
PREPARED = "data/prepared"
FORMATS = ("svg", "pdf", "png")  # of figures: the first by default, others on request
_KINDS = ("table", "figure", "page")
_CLAIMS = "dpnoise_papers.claims.published.read_claims"
_BESIDE = "dpnoise_papers.claims.judge.printed_beside"
_BOUNDS = "dpnoise_papers.claims.judge.bounds_beside"


class Job(NamedTuple):
    """One rule: its name, its outputs and the calls of a job by its wildcards.

    `log` is a path without end, `wildcards` are patterns by name; `memory` (MB) and `minutes` are
    those of a first attempt, `threads` those that help.
    """

    name: str
    outputs: list[str]
    calls: Callable[..., list[Call]]
    log: str
    wildcards: Mapping[str, str] = MappingProxyType({})
    script: str = "show"
    group: Callable[[Any], str] | str = "collected"
    memory: int = 1500
    minutes: int = 10
    threads: int = 1
    priority: int = 0
    gpu: int = 0


class Run:
    """The papers' items, by 'paper/item', under the settings of one run.

    `changed` are the settings that are not those of config.yaml; a run writes into `results`,
    `figures` and `logs`. `missing` says of a data set without a local copy what was looked for.
    """

    def __init__(
        self,
        config: Any,  # noqa: ANN401 - the model is made at run time
        changed: Sequence[Mapping[str, Any]] = (),
        declared: tuple[Paper, ...] | None = None,
    ) -> None:
        self.config, self.changed = config, list(changed)
        self.papers = papers() if declared is None else declared
        where = places(config)
        self.results, self.figures, self.logs = where["results"], where["figures"], where["logs"]
        self.page_for_reviewers = f"{config.folder}/report.html" if config.folder else "report.html"
        self.items = {
            f"{one.id}/{item.id}": (one, item) for one in self.papers for item in one.items
        }
        self.sources = Sources(config)
        self.missing = self.sources.missing()
        if unknown := ", ".join(name for name in config.items if name not in self.items):
            raise ValueError(f"config: items: expected some of `items.yaml`, got {unknown}")
        if config.items:
            self.items = {key: self.items[key] for key in self._behind(config.items)}

    @classmethod
    def of(cls, *files: str | Path, overrides: Mapping[str, Any] | None = None) -> Run:
        """Run by config files and settings of the command line over config.yaml."""
        return cls(*load_run("config.yaml", *files, overrides=overrides))

    # What an item reads, and whether it can be made

    def parts(self, paper: Paper, where: str) -> list[str]:
        """Parts that a setting lists: the keys of a mapping, sorted, or the values of a list."""
        value = self._setting(paper, where)
        return sorted(value) if isinstance(value, dict) else [str(one) for one in value]

    def _setting(self, paper: Paper, where: str) -> Any:  # noqa: ANN401
        """Value of a setting of a paper, or, by a name that starts with it, of another."""
        names = where.split(".")
        value: Any = self.config if names[0] in MODULES else getattr(self.config, paper.module)
        for name in names:
            value = getattr(value, name)
        return value

    def _parts(self, key: str) -> list[str]:
        """Parts that an item's table is made in; one without a name if it is made at once."""
        paper, item = self.items[key]
        return self.parts(paper, item.table.parts) if item.table and item.table.for_each else [""]

    @cached_property
    def _makers(self) -> dict[str, tuple[str, str]]:
        """Item and part that make each table, by 'paper/table'."""
        return {f"{paper.id}/{name}".replace(PART, part): (key, part)
                for key, (paper, item) in self.items.items()
                for part in self._parts(key) for name in item.tables}  # fmt: skip

    def maker(self, path: str) -> tuple[str, str] | None:
        """Item and part that make a table 'paper/table.csv'; None if none does."""
        return self._makers.get(path.removesuffix(".csv"))

    @cache  # noqa: B019 - a run lives as long as its process
    def _read(self, key: str, kind: str, part: str = "") -> list[dict[str, str]]:
        """Tables that a function of an item reads: 'paper/table' by part, '' for one alone."""
        paper, item = self.items[key]
        declared, found = getattr(item, kind), []
        for name in item.reads(kind):
            whole = paper.whole(name)
            several = PART in name and not part
            parts = self.parts(paper, declared.parts) if several else [part]
            found.append({one if several else "": whole.replace(PART, one) for one in parts})
            if unknown := [one for one in found[-1].values() if one not in self._makers]:
                raise ValueError(f"{paper.id}: no item makes {', '.join(unknown)}")
        return found

    def _behind(self, keys: Iterable[str], kinds: Sequence[str] = _KINDS) -> list[str]:
        """Some items and those that they read, at any distance."""
        found = dict.fromkeys(keys)
        new = list(found)
        for key in new:  # grows below
            read = [one for kind in kinds for one in self._read(key, kind)]
            more = dict.fromkeys(self._makers[name][0] for one in read for name in one.values())
            new += [one for one in more if one not in found]
            found |= more
        return new

    @cache  # noqa: B019 - a run lives as long as its process
    def had(self, key: str, part: str = "") -> bool:
        """Whether the data behind an item, or one part of it, are at hand."""
        item = self.items[key][1]
        if item.table and item.table.for_each and not part:
            return any(self.had(key, one) for one in self._parts(key))
        data = item.table.data if item.table else ()
        return not any(name.replace(PART, part) in self.missing for name in data) and all(
            any(self.had(*self._makers[name]) for name in read.values())
            for read in self._read(key, "table" if item.table else "figure", part)
        )

    def data_behind(self, keys: Iterable[str]) -> list[str]:
        """Sorted names of the data that some items are made of, at any distance."""
        return sorted({name.replace(PART, part) for key in self._behind(keys)
                       if (table := self.items[key][1].table) for name in table.data
                       for part in self._parts(key)})  # fmt: skip

    # What is asked for

    def _asked(self, paper: Paper, target: str = "") -> list[str]:
        """Items of a paper that a target asks for, '' for the default one; also without data."""
        only = self.config.items or self.items
        return [key for key, (owner, item) in self.items.items()
                if (owner, item.target) == (paper, target) and key in only]  # fmt: skip

    def files(self, paper: Paper, target: str = "") -> list[str]:
        """Every file that a target asks for of a paper."""
        shown = [] if target or self.config.items else filter(self.had, paper.shows)
        keys = filter(self.had, self._asked(paper, target))
        found = [f"{self.figures}/{key}.svg" for key in shown]
        return found + outputs(call for key in keys for call in self.calls(key))

    def data(self, *some: Paper) -> dict[str, str]:
        """Data of papers' default items, and what is missing of each ("" if it is at hand)."""
        names = self.data_behind(key for paper in some for key in self._asked(paper))
        return {name: self.missing.get(name, "") for name in names}

    def unhad(self, *some: Paper) -> list[str]:
        """Prepared data of papers' default items without a copy: their jobs find one or fail."""
        return [f"{PREPARED}/{name}.npz" for name, why in self.data(*some).items() if why]

    def lacking(self, calls: Iterable[Call], workflow: Any) -> list[str]:  # noqa: ANN401
        """Prepared data without a copy behind calls that leave parts out, if a file is asked for.

        `workflow` is Snakemake's, which knows the targets once it plans.
        """
        targets = workflow.dag_settings.targets if workflow.is_main_process else ()
        left = [call["item"] for call in calls for one in call["tables"]
                if isinstance(one, dict) and "" in one.values()]  # fmt: skip
        names = self.data_behind(left) if any("/" in target for target in targets) else ()
        return [f"{PREPARED}/{name}.npz" for name in names if name in self.missing]

    def statuses(self) -> list[str]:
        """Files that tell of the learning tasks at hand."""
        return [f"{PREPARED}/{name}.json" for name, why in self.data(*self.papers).items()
                if not why and "/" not in name]  # fmt: skip

    def no_data(self) -> list[str]:
        """Data of default items that are missing, with what was looked for and where to put it."""
        found = self.data(*self.papers).items()
        return [f"no data: {name}: {why}" for name, why in found if why]

    def targets(self) -> dict[str, list[str]]:
        """Files by target: a paper by both spellings of its name, and optional items."""
        found = {name: self.unhad(paper) + self.files(paper)
                 for paper in self.papers for name in (paper.id, paper.module)}  # fmt: skip
        optional = sorted({item.target for _, item in self.items.values()} - {""})
        return found | {name: [path for paper in self.papers for path in self.files(paper, name)]
                        for name in optional}  # fmt: skip

    def everything(self, end: str = "") -> list[str]:
        """Files of all papers with some end."""
        found = (path for paper in self.papers for path in self.files(paper))
        return [path for path in dict.fromkeys(found) if path.endswith(end)]

    # Rules, in the order of a run

    def _is_grid(self, key: str) -> bool:
        """Whether an item's tables are cheap and read nothing: made with others of its paper."""
        item = self.items[key][1]
        one = item.table
        own = one and (one.alone or one.data or one.for_each or one.reads or item.target)
        return bool(one) and not own

    @cache  # noqa: B019 - a run lives as long as its process
    def _is_shown(self, key: str) -> bool:
        """Whether figure and page of an item show nothing but such tables."""
        reads = [read for kind in _KINDS[1:] for read in self._read(key, kind)]
        makers = [self._makers[name][0] for read in reads for name in read.values()]
        return not self.items[key][1].target and bool(makers) and all(map(self._is_grid, makers))

    def jobs(self) -> Iterator[Job]:  # numpydoc ignore=YD01
        """Rules of all items: experiments, grids, tables, figures and pages.

        An experiment is made part by part, all items with the same parts in one job. Grids are the
        cheap tables of a paper in one job, as are the figures and pages that show nothing else. Any
        other table has a job of its own, as have the figure and page of an item together, by rules
        for each set of ends that they make.
        """
        swept: dict[tuple[Paper, str], list[str]] = defaultdict(list)
        batches: dict[tuple[Paper, str], list[Call]] = defaultdict(list)
        each: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for key, (paper, item) in self.items.items():
            if item.table and item.table.for_each:
                swept[paper, item.table.parts].append(key)
            for kind in ("table", "show"):
                calls = self._own(kind, key)
                if self._is_grid(key) if kind == "table" else self._is_shown(key):
                    batches[paper, "grids" if kind == "table" else "figures"] += calls
                elif calls:
                    paths = [path.replace(key, "{item}") for path in outputs(calls)]
                    each[kind, *paths].append(key)
        for (paper, where), keys in swept.items():
            name = f"{paper.module}_{where.replace('.', '_')}"
            made = [f"{self.results}/{paper.id}/{one}.csv"
                    for key in keys for one in self.items[key][1].tables]  # fmt: skip
            yield Job(
                name, made, lambda w, keys=keys: [self.table(key, w.part) for key in keys],
                f"{paper.id}/{name}-{{part}}", {"part": one_of(self.parts(paper, where))},
                "tables", "experiments", priority=2, **self._asks(keys),
            )  # fmt: skip
        for (paper, what), calls in batches.items():
            grids = what == "grids"  # long, so that they do not end a run by themselves
            script, group = ("tables",) * 2 if grids else ("show", "collected")
            yield Job(f"{paper.module}_{what}", outputs(calls), lambda _, calls=calls: calls,
                      f"{paper.id}/{what}", {}, script, group, minutes=30,
                      priority=2 * grids)  # fmt: skip
        for (kind, *files), keys in each.items():
            ends = "".join(file.partition("{item}")[2] for file in files)
            name = re.sub("[-.]", "_", kind + ends.replace(".csv", ""))
            how: dict[str, Any] = {"script": "tables", "priority": 1, "group": self._group}
            how = how | self._asks(keys) if kind == "table" else {}
            yield Job(name, files, lambda w, kind=kind: self._own(kind, w.item), f"{{item}}-{kind}",
                      {"item": one_of(keys)}, **how)  # fmt: skip
        drawn = one_of(key for key, (_, item) in self.items.items() if item.figure)
        yield Job("picture", [f"{self.figures}/{{item}}.{{end}}"],
                  lambda w: self.figure(w.item, w.end), "{item}-{end}",
                  {"item": drawn, "end": one_of(FORMATS[1:])})  # fmt: skip

    def _own(self, kind: str, key: str) -> list[Call]:
        """Calls of an item: its 'table' if it is made at once, or to 'show' its figure and page."""
        table = self.items[key][1].table
        if kind == "show":
            return self.figure(key) + self.page(key)
        return [self.table(key)] if table and not table.for_each else []

    def _group(self, wildcards: Any) -> str:  # noqa: ANN401 - Snakemake's
        """Group of the job of a table: with what it reads, if it reads any."""
        return "collected" if self._read(wildcards.item, "table") else "tables"

    def _asks(self, keys: Iterable[str]) -> dict[str, int]:
        """What a job of such tables asks for: the most of each, threads that help every one."""
        made = [(paper, item.table) for paper, item in map(self.items.__getitem__, keys)
                if item.table]  # fmt: skip
        most = {name: max(getattr(one, name) for _, one in made) for name in ("memory", "minutes")}
        cuda = any(one.device and self._setting(paper, one.device) == "cuda" for paper, one in made)
        return most | {"threads": min(one.threads for _, one in made), "gpu": int(cuda)}

    # Calls

    def calls(self, key: str) -> list[Call]:
        """Calls behind everything of an item that can be made."""
        parts = self._parts(key) if self.items[key][1].table else []
        tables = [self.table(key, part) for part in parts if self.had(key, part)]
        return [*tables, *self.figure(key), *self.page(key)]

    @cache  # noqa: B019 - a run lives as long as its process
    def table(self, key: str, part: str = "") -> Call:
        """Call behind the tables of an item, or of one part of it."""
        paper, item = self.items[key]
        table = item.table or Table(function="")
        keywords: dict[str, Any] = {}
        if table.for_each and not any(PART in name for name in table.data):
            keywords["part"] = part
        if table.statuses:
            keywords["statuses"] = {one: {"reason": self.missing.get(one, "")}
                                    for one in self.parts(paper, table.parts)}  # fmt: skip
        settings = sections(self.config, paper.module, table.settings)
        section, _, field = table.parts.partition(".") if part else ("", "", "")
        if isinstance(listed := settings.get(section, {}).get(field), dict):
            settings[section] |= {field: {part: listed[part]}}  # others must not rerun this one
        data = [name.replace(PART, part) for name in table.data]
        return self._call(key, "table", part) | {
            "module": paper.module,
            "settings": settings,
            "npz": [f"{PREPARED}/{name}.npz" for name in data],
            "reader": self.sources.reader(data[0]) if data else "",
            "keywords": keywords,
            "threaded": table.threads > 1,
            "columns": {DIGEST: self.digest_behind(key)} if item.extra and not part else {},
            "outputs": [f"{self.results}/{paper.id}/{name.replace(PART, part)}.csv"
                        for name in item.tables],
        }  # fmt: skip

    def figure(self, key: str, ending: str = FORMATS[0]) -> list[Call]:
        """Call behind the figure of an item, none if it has none."""
        item = self.items[key][1]
        told = {"caption": item.caption, "outputs": [f"{self.figures}/{key}.{ending}"],
                "printed": list(item.figure.printed) if item.figure else []}  # fmt: skip
        return [self._call(key, "figure") | told] if item.figure else []

    def page(self, key: str) -> list[Call]:
        """Call behind the page of an item, none if it has none."""
        page = self.items[key][1].page
        made = [f"{self.results}/{key}.{end}" for end in page.formats] if page else []
        return [self._call(key, "page") | {"outputs": made}] if page else []

    def _call(self, key: str, kind: str, part: str = "") -> Call:
        """What every function is told: itself, tables by path or by part, claims."""
        paper, item = self.items[key]
        declared = getattr(item, kind)
        tables: list[str | dict[str, str]] = []
        for read in self._read(key, kind, part):
            paths = {one: f"{self.results}/{name}.csv" for one, name in read.items()}
            tables.append(paths[""] if "" in paths else {
                one: path if self.had(*self._makers[read[one]]) else ""
                for one, path in paths.items()
            })  # fmt: skip
        found = {"item": key, "function": declared.function, "tables": tables}
        printed = getattr(declared, "printed", ())
        if declared.claims or printed:
            names = (f"{paper.id}.csv", "words.yaml", f"{paper.id}.paragraphs.yaml")
            files = [f"{PUBLISHED}/{name}" for name in names]
            found["claims"] = [one for one in files if Path(one).is_file()]
            beside = _BOUNDS if printed and declared.bounds else _BESIDE
            found["reads_claims"] = beside if printed else _CLAIMS
        return found

    # Verdicts and provenance

    def judged(self) -> dict[str, Any]:
        """What the verdicts are told beside their inputs: what is left out, and why."""
        optional = self.optional()
        lacking = {f"{paper.id}/{name}.csv": "; ".join(self.missing.values())
                   for key, (paper, item) in self.items.items()
                   for name in item.tables if not (item.target or self.had(key))}  # fmt: skip
        counted = {path: file_digest(f"{self.results}/{path}")
                   for path, why in optional.items() if not why}  # fmt: skip
        missing = {name: why for name, why in self.data(*self.papers).items()
                   if why and "/" not in name}  # fmt: skip
        return {"changed": self.changed, "strict": self.config.strict, "missing": missing,
                "optional": optional, "lacking": lacking, "counted": counted}  # fmt: skip

    def judged_files(self) -> list[str]:
        """Files that the verdicts read: tables, also optional ones, claims, the recorded run."""
        beside = [*Path(PUBLISHED).glob("*.*"), *Path("docs/snapshot").glob("*.csv")]
        return [*self.everything(".csv"), *sorted(map(str, beside))]

    def told(self) -> dict[str, list[str]]:
        """Item of each file of the default run, and the digest of what its job is told."""
        keys = [key for paper in self.papers for key in self._asked(paper) if self.had(key)]
        calls = [(key, call) for key in keys for call in self.calls(key)]
        return {path: [key, settings_digest(call)[:16]]
                for key, call in calls for path in call["outputs"]}  # fmt: skip

    def digest_behind(self, key: str) -> str:
        """Digest of the settings of an item and of all items whose tables it reads."""
        found: dict[str, object] = {}
        for one in self._behind([key], ["table"]):
            paper, item = self.items[one]
            names = item.table.settings if item.table else ()
            own = sections(self.config, paper.module, names)
            found |= {f"{paper.id}.{name}": section for name, section in own.items()}
        return settings_digest(found)[:16]

    def optional(self) -> dict[str, str]:
        """Why an optional table does not count, by path, or "" if it does."""
        return {f"{paper.id}/{name}.csv": self._reason(key, f"{paper.id}/{name}.csv")
                for key, (paper, item) in self.items.items() if item.target
                for name in item.tables if PART not in name}  # fmt: skip

    def _reason(self, key: str, path: str) -> str:
        """Why an optional table does not count, or nothing."""
        file, item = Path(self.results, path), self.items[key][1]
        again = f"`make {item.target}` makes it"
        if not file.is_file():
            extra = f"because it needs the extra {item.extra!r}"
            return f"{file} is no part of the default run, {extra}; {again}"
        rows = csv.DictReader(file.read_text("utf-8", "replace").splitlines())
        if {row.get(DIGEST) for row in rows} != {self.digest_behind(key)}:
            return f"{file} was made with other settings than those in force; {again} again"
        return ""


def inputs(calls: Iterable[Call]) -> list[str]:
    """Files that some calls read, each once."""
    found: list[str] = []
    for call in calls:
        for one in call["tables"]:
            found += filter(None, one.values() if isinstance(one, dict) else [one])
        found += [*call.get("npz", []), *call.get("claims", [])]
    return list(dict.fromkeys(found))


def outputs(calls: Iterable[Call]) -> list[str]:
    """Files that some calls make."""
    return [path for call in calls for path in call["outputs"]]


def code(script: str, calls: Iterable[Call] = ()) -> str:
    """Digest of the code of a script and of what the calls call."""
    names = {call.get(which) for call in calls for which in ("function", "reader", "reads_claims")}
    names |= {f"dpnoise_papers.{call['module']}.settings.Settings" for call in calls
              if "module" in call}  # fmt: skip
    return code_digest(f"workflow/scripts/{script}.py", *sorted(filter(None, names)))


def shown(report: Callable[..., Any], path: str, caption: str = "") -> Any:  # noqa: ANN401
    """A file in Snakemake's `report`: under its paper, by name; tables without a caption are not.

    `caption` is a text of workflow/report.
    """
    if path.endswith(".csv") and not caption:
        return path

    def name(wildcards: Any) -> tuple[str, ...]:  # noqa: ANN401 - Snakemake's
        return Path(path.format_map(wildcards)).with_suffix("").parts[-2:]

    return report(
        path,
        caption=f"workflow/report/{caption or 'item'}.rst",
        category=lambda w: name(w)[0],
        subcategory="pages" if path.endswith((".md", ".tex")) else "figures",
        labels=lambda w: {"item": name(w)[1]},
    )


def one_of(names: Iterable[str]) -> str:
    """Pattern of a wildcard that is one of some names."""
    return "|".join(map(re.escape, names)) or "none"
