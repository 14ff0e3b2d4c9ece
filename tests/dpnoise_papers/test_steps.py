"""Rules and calls of the pipeline follow from the declarations; what is left out, and why.

Optional tables: which settings are behind one, and when one counts.
"""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpnoise_papers.config import load
from dpnoise_papers.item import Figure, Item, Page, Paper, Table
from dpnoise_papers.settings import Section
from dpnoise_papers.steps import Run, code, inputs, outputs, shown


class SnakemakeParams(dict):
    """Params as a script sees them: by attribute, and with `get`."""

    __getattr__ = dict.__getitem__


class Sweep(Section):
    tasks: dict[str, float]
    hours: tuple[int, ...]


class Net(Section):
    device: str
    scale: float = 1.0


def config(tasks=(("california", 1.0), ("airfoil", 2.0)), scale=1.0, device="cpu", items=()):
    general = load("config.yaml")
    return SimpleNamespace(
        data=general.data, folder=None, items=items, strict=False, seed=1,
        flipped_huber_slides=SimpleNamespace(),
        inid_2024=SimpleNamespace(sweep=Sweep(tasks=dict(tasks), hours=[9, 8]),
                                  net=Net(device=device, scale=scale)),
    )  # fmt: skip


RUNS = Item(
    id="runs",
    table=Table(
        function="toy.runs",
        settings=("sweep",),
        data=("{part}",),
        parts="sweep.tasks",
        for_each=True,
        makes=("runs/{part}", "runs/{part}-beside"),
        threads=4,
        memory=3000,
    ),
)
SUMMARY = Item(
    id="summary",
    caption="All runs.",
    table=Table(
        function="toy.summary",
        settings=(),
        reads=("runs/{part}",),
        parts="sweep.tasks",
        statuses=True,
        makes=("summary", "summary-beside"),
    ),
    figure=Figure(function="toy.draw", printed=("summary",)),
    page=Page(function="toy.write", claims=True, formats=("md", "tex")),
)
CHEAP = Item(
    id="cheap",
    caption="A grid.",
    table=Table(function="toy.grid", settings=("net",)),
    figure=Figure(function="toy.draw"),
)
LONG = Item(id="long", table=Table(function="toy.long", settings=("net",), alone=True))
PAPER = Paper(id="inid-2024", items=(RUNS, SUMMARY, CHEAP, LONG))


def run(*items, missing=(), **settings):
    paper = replace(PAPER, items=items or PAPER.items)
    found = Run(config(**settings), declared=(paper,))
    found.missing = {name: f"no copy of {name}" for name in missing}
    return found


def files(made):
    return made.files(made.papers[0])


def test_parts_are_keys_in_alphabetical_order_or_values_in_theirs():
    made = run()
    assert made.parts(PAPER, "sweep.tasks") == ["airfoil", "california"]
    assert made.parts(PAPER, "sweep.hours") == ["9", "8"]
    assert made.parts(PAPER, "inid_2024.sweep.tasks") == ["airfoil", "california"]


def test_a_data_set_is_one_job_that_is_told_its_own_settings_only():
    job = next(run().jobs())
    assert job.name == "inid_2024_sweep_tasks"
    assert job.wildcards == {"part": "airfoil|california"}
    assert job.outputs == [f"results/inid-2024/runs/{{part}}{end}.csv" for end in ("", "-beside")]
    assert (job.threads, job.memory, job.minutes, job.gpu) == (4, 3000, 10, 0)
    (call,) = job.calls(SimpleNamespace(part="airfoil"))
    assert call["settings"] == {"sweep": {"tasks": {"airfoil": 2.0}, "hours": [9, 8]}}
    assert inputs([call]) == ["data/prepared/airfoil.npz"]
    assert call["reader"] == "dpnoise_papers.data.sets.read_prepared"


def test_cheap_tables_share_a_job_and_others_have_one_of_their_own():
    jobs = {job.name: job for job in run().jobs()}
    names = ("inid_2024_grids", "inid_2024_figures", "table", "table_beside", "show_svg_md_tex")
    assert set(jobs) == {"inid_2024_sweep_tasks", *names, "picture"}
    assert jobs["inid_2024_grids"].outputs == ["results/inid-2024/cheap.csv"]
    assert jobs["table"].wildcards == {"item": re.escape("inid-2024/long")}
    assert jobs["inid_2024_figures"].outputs == ["figures/inid-2024/cheap.svg"]
    shown = ["figures/{item}.svg", "results/{item}.md", "results/{item}.tex"]
    assert jobs["show_svg_md_tex"].outputs == shown
    assert jobs["table_beside"].outputs == [f"results/{{item}}{end}.csv" for end in ("", "-beside")]
    groups = [
        jobs[name].group for name in ("inid_2024_sweep_tasks", "inid_2024_grids", "show_svg_md_tex")
    ]
    assert groups == ["experiments", "tables", "collected"]
    reading, long = (
        jobs[name].group(SimpleNamespace(item=f"inid-2024/{item}"))
        for name, item in (("table_beside", "summary"), ("table", "long"))
    )
    assert (reading, long) == ("collected", "tables")


def test_a_figure_needs_no_table_of_its_own():
    drawn = Item(id="drawn", caption="A run.", figure=Figure(function="toy.draw", reads=("long",)))
    jobs = {job.name: job for job in run(LONG, drawn).jobs()}
    assert jobs["show_svg"].wildcards == {"item": re.escape("inid-2024/drawn")}


def test_no_file_is_made_by_two_rules_and_every_file_by_one():
    made = Run(load("config.yaml"))
    patterns = []
    for job in made.jobs():
        for path in job.outputs:
            pattern = re.escape(path)
            for name, one in job.wildcards.items():
                pattern = pattern.replace(re.escape(f"{{{name}}}"), f"(?:{one})")
            patterns.append((job.name, re.compile(pattern)))
    every = made.everything() + [path for paths in made.targets().values() for path in paths]
    for path in set(every):
        makers = [name for name, pattern in patterns if pattern.fullmatch(path)]
        assert len(makers) == 1 or path.startswith("data/"), (path, makers)


def test_figures_and_pages_read_the_tables_of_their_item_and_the_claims():
    made = run()
    (figure,) = made.figure("inid-2024/summary")
    assert figure["tables"] == ["results/inid-2024/summary.csv",
                                "results/inid-2024/summary-beside.csv"]  # fmt: skip
    assert figure["claims"][0] == "published/inid-2024.csv"
    assert figure["reads_claims"].endswith("printed_beside")
    assert outputs(made.figure("inid-2024/summary", "pdf")) == ["figures/inid-2024/summary.pdf"]


def test_a_table_of_another_paper_is_read_from_its_folder():
    item = Item(
        id="other", table=Table(function="toy.more", settings=(), reads=("inid-2024/long",))
    )
    slides = Paper(id="flipped-huber-slides", items=(item,))
    made = Run(config(), declared=(PAPER, slides))
    assert made.table("flipped-huber-slides/other")["tables"] == ["results/inid-2024/long.csv"]


def test_a_missing_data_set_is_left_out_and_its_own_job_is_asked_for():
    made = run(missing=["airfoil"])
    assert not any("airfoil" in path for path in files(made))
    assert "results/inid-2024/summary.csv" in files(made)
    call = made.table("inid-2024/summary")
    assert call["tables"] == [
        {"airfoil": "", "california": "results/inid-2024/runs/california.csv"}
    ]
    assert call["keywords"]["statuses"]["airfoil"] == {"reason": "no copy of airfoil"}
    assert made.unhad(made.papers[0]) == ["data/prepared/airfoil.npz"]
    assert made.no_data() == ["no data: airfoil: no copy of airfoil"]
    nothing = run(missing=["airfoil", "california"])
    assert files(nothing) == files(run(CHEAP, LONG))
    assert set(nothing.judged()["lacking"]) >= {"inid-2024/summary.csv"}


@pytest.mark.parametrize(
    ("target", "main", "wanted"),
    [("a/b.csv", True, ["data/prepared/airfoil.npz"]), ("all", True, []), ("a/b.csv", False, [])],
)
def test_a_file_asked_for_by_name_needs_the_data_that_a_paper_leaves_out(target, main, wanted):
    workflow = SimpleNamespace(dag_settings=SimpleNamespace(targets={target}), is_main_process=main)
    made = run(missing=["airfoil"])
    assert made.lacking([made.table("inid-2024/summary")], workflow) == wanted
    assert made.lacking([made.table("inid-2024/long")], workflow) == []
    assert made.lacking([made.table("inid-2024/runs", "california")], workflow) == []
    hours = replace(RUNS, table=replace(RUNS.table, data=("city/one",), parts="sweep.hours"))
    read = replace(SUMMARY, table=replace(SUMMARY.table, parts="sweep.hours", statuses=False))
    made = run(hours, read, missing=["city/one"])
    city = ["data/prepared/city/one.npz"] if wanted else []
    assert made.lacking([made.table("inid-2024/summary")], workflow) == city


def test_a_run_of_some_items_makes_them_and_what_they_read():
    made = run(items=("inid-2024/cheap",))
    assert files(made) == ["results/inid-2024/cheap.csv", "figures/inid-2024/cheap.svg"]
    assert not made.unhad(made.papers[0])
    with pytest.raises(ValueError, match="got inid-2024/nothing"):
        run(items=("inid-2024/nothing",))


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ({"extra": "deep"}, "deep"),
        ({"extra": "deep", "target": "large"}, "large"),
    ],
)
def test_an_optional_item_is_made_by_its_own_target_only(own, name):
    made = run(CHEAP, replace(LONG, **own))
    assert files(made) == files(run(CHEAP))
    assert made.targets()[name] == ["results/inid-2024/long.csv"]
    assert bool(made.table("inid-2024/long")["columns"]) == ("extra" in own)


@pytest.mark.parametrize(("device", "gpu"), [("cuda", 1), ("cpu", 0)])
def test_a_table_made_on_a_gpu_asks_for_one(device, gpu):
    table = Table(function="toy.train", settings=("net",), device="net.device", for_each=True,
                  parts="sweep.hours", makes=("net-{part}",))  # fmt: skip
    job = next(run(Item(id="net", table=table), device=device).jobs())
    assert job.gpu == gpu
    (call,) = job.calls(SimpleNamespace(part="8"))
    assert call["keywords"] == {"part": "8"}


def test_the_digest_depends_on_all_settings_behind_a_table_and_on_no_others():
    def digest(**settings):
        return run(**settings).digest_behind("inid-2024/summary")

    assert digest() == digest(scale=5.0)
    assert digest() != digest(tasks=(("california", 1.0), ("airfoil", 3.0)))


@pytest.fixture
def optional(tmp_path):
    """Run with an optional table, whose file is returned."""
    made = run(replace(LONG, extra="deep", target="large"))
    made.results = str(tmp_path)
    path = tmp_path / "inid-2024/long.csv"
    path.parent.mkdir()
    return made, path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x,settings_digest\n1,OWN\n2,OWN\n", ""),
        ("x,settings_digest\n1,OWN\n2,fedcba9876543210\n", "made with other settings"),
        ("x\n1\n", "made with other settings"),
        ("\0", "made with other settings"),
        ("x,settings_digest\n", "made with other settings"),
        (
            None,
            "no part of the default run, because it needs the extra 'deep'; `make large` makes it",
        ),
    ],
)
def test_an_optional_table_counts_if_it_has_the_settings_in_force(optional, text, why):
    made, path = optional
    if text is not None:
        path.write_text(text.replace("OWN", made.digest_behind("inid-2024/long")))
    found = made.optional()["inid-2024/long.csv"]
    assert why in found
    assert bool(why) == bool(found)
    assert bool(made.judged()["counted"]) == (not why)


def test_an_optional_table_counts_as_its_job_writes_it(optional, tmp_path):
    made, path = optional
    told = {"function": "pandas.DataFrame", "keywords": {"data": {"x": [1, 2]}}}
    told |= {"module": "inid_2024", "settings": {}, "npz": [], "tables": [], "outputs": [str(path)]}
    job = SimpleNamespace(
        params=SnakemakeParams(calls=[made.table("inid-2024/long") | told]),
        output=[str(path)],
        log=[str(tmp_path / "job.log")],
    )
    runpy.run_path("workflow/scripts/tables.py", {"snakemake": job})
    assert made.optional() == {"inid-2024/long.csv": ""}


def test_the_report_shows_figures_and_pages_under_their_paper_with_captions():
    found = {}
    for job in Run(load("config.yaml")).jobs():
        for path in job.outputs:
            one = shown(lambda path, **told: (path, told), path)
            assert isinstance(one, str) == (job.script == "tables")
            if job.script == "show":
                told = one[1]
                wildcards = {"item": "inid-2024/figure-2", "end": "png"} if "{" in path else {}
                category, labels = told["category"](wildcards), told["labels"](wildcards)
                found[path] = category, labels["item"]
                captions = [call.get("caption") for call in job.calls(SimpleNamespace(**wildcards))]
                assert any(captions) or told["subcategory"] == "pages"
    verdicts = shown(lambda *_, **told: told["caption"], "results/datasets.csv", "datasets")
    assert verdicts == "workflow/report/datasets.rst"
    assert found["figures/inid-2024/figure-1a.svg"] == ("inid-2024", "figure-1a")
    assert found["figures/{item}.svg"] == ("inid-2024", "figure-2")


def test_code_is_that_of_the_script_the_function_and_the_settings():
    made = Run(load("config.yaml"))
    first, second = (made.table(f"inid-2024/{name}") for name in ("figure-2", "theory"))
    assert code("tables", [first]) != code("tables", [second])
    assert code("tables", [first]) != code("show", [first])
