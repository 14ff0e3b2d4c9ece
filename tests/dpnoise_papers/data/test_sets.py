"""Sets, from the copies that travel with the repository, against independent knowledge.

What is prepared of them for the next job.
"""

import csv
import hashlib
import json
import lzma
import pickle
import re
import zipfile
from functools import partial

import numpy as np
import openpyxl
import pytest

import data_copies as copies
from dpnoise_papers.data import sets
from dpnoise_papers.data.copies import obtain, places_of
from dpnoise_papers.data.registry import REPOSITORY, TaskEntry, read_cities, read_registry
from dpnoise_papers.data.sets import (
    DatasetUnavailable,
    build,
    dataset_contents,
    load,
    parts,
    read_prepared,
)

SHIPPED = REPOSITORY / "data" / "shipped"
NEAR = {"cache": "no cache", "mirror": "", "offline": True}


@pytest.fixture(scope="module")
def get():
    loaded = {}

    def get(name):
        if name not in loaded:
            loaded[name] = load(name, **NEAR)
        return loaded[name]

    return get


def test_diabetes_needs_neither_network_nor_mirror(tmp_path):
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import scale

    data = load("diabetes", cache=tmp_path / "raw", mirror="", offline=True)
    scaled = load_diabetes()
    assert np.allclose(scale(data.features), scale(scaled.data), atol=1e-12)
    assert np.array_equal(data.target, scaled.target)
    assert data.source == "scikit-learn"


@pytest.mark.parametrize("name", read_registry(own=False).sets)
def test_every_set_is_what_the_registry_says(get, name):
    data, entry = get(name), read_registry(own=False).sets[name]
    assert list(data.features.shape) == entry.shape
    assert data.target.shape == (entry.shape[0],)
    assert len(set(data.feature_names)) == entry.shape[1]
    assert np.isfinite(data.features).all()
    assert data.features.std(axis=0).min() > 0
    if data.task == "classification":
        assert set(data.target) == {-1.0, 1.0}
        assert (data.target == 1).sum() == entry.classes["+1"]
        assert (data.target == -1).sum() == entry.classes["-1"]
    else:
        assert len(set(data.target)) > 50


# Published class counts: UCI 186 and 145, OpenML 823 and 151, Koklu et al. 2021 (Table 1).
@pytest.mark.parametrize(
    ("name", "minus", "plus"),
    [
        ("houses", 11726, 8914),
        ("electricity", 26075, 19237),
        ("wine-quality", 4898, 1599),
        ("pumpkin-seeds", 1300, 1200),
        ("heart-statlog", 150, 120),
    ],
)
def test_class_counts(get, name, minus, plus):
    target = get(name).target
    assert ((target == -1).sum(), (target == 1).sum()) == (minus, plus)


def test_california_is_what_scikit_learn_makes_of_it(get):
    # Independent public code pins the sha256 of scikit-learn's arrays written as CSV.
    data = get("california")
    head = "MedInc,HouseAge,AveRooms,AveBedrms,Population,AveOccup,Latitude,Longitude,MedHouseVal"
    rows = np.column_stack([data.features, data.target])
    text = head + "\n" + "".join(",".join(f"{x:.17g}" for x in row) + "\n" for row in rows)
    assert len(text) == 2539419
    assert hashlib.sha256(text.encode()).hexdigest().startswith("157b6c0d3acd6d93")


def test_california_means(get):
    data = get("california")
    mean = dict(zip(data.feature_names, data.features.mean(axis=0), strict=True))
    assert mean["longitude"] == pytest.approx(-119.57, abs=5e-3)
    assert mean["latitude"] == pytest.approx(35.6319, abs=5e-5)
    assert mean["housing_median_age"] == pytest.approx(28.6395, abs=5e-5)
    assert mean["median_income"] == pytest.approx(3.87067, abs=5e-6)
    assert data.extra["total_rooms"].mean() == pytest.approx(2635.76, abs=5e-3)
    assert data.extra["total_bedrooms"].mean() == pytest.approx(537.898, abs=5e-4)
    assert mean["population"] == pytest.approx(1425.48, abs=5e-3)
    assert data.extra["households"].mean() == pytest.approx(499.54, abs=5e-3)
    assert data.target.mean() * 1e5 == pytest.approx(206855.82, abs=5e-3)


def test_houses_share_california_rows_but_not_its_longitude(get):
    houses, california = get("houses"), get("california")
    assert np.array_equal(houses.features[:, 0] / 1e5, california.target)
    assert "longitude" not in houses.feature_names
    west = houses.extra["longitude"] < houses.extra["longitude"].mean()
    assert np.array_equal(houses.target == 1, west)


def test_airfoil_means(get):
    data = get("airfoil")
    mean = [2886.38, 6.7823, 0.136548, 50.8607, 0.0111399]
    assert data.features.mean(axis=0) == pytest.approx(mean, rel=5e-6)
    assert data.target.mean() == pytest.approx(124.836, abs=5e-4)


def test_wine_keeps_the_quality(get):
    quality = get("wine-quality").extra["quality"]
    assert set(quality) == set(range(3, 10))
    assert "quality" not in get("wine-quality").feature_names


def test_workbook_and_csv_give_one_set(tmp_path, get):
    text = lzma.decompress((SHIPPED / "pumpkin-seeds.csv.xz").read_bytes()).decode()
    book = openpyxl.Workbook()
    head, *lines = csv.reader(text.splitlines())
    book.active.append(head)
    for *numbers, word in lines:
        book.active.append([*map(float, numbers), word])
    book.save(tmp_path / "Pumpkin_Seeds_Dataset.xlsx")
    data = load("pumpkin-seeds", cache=tmp_path, mirror="", offline=True)
    assert data.source == "cache"
    assert data.fingerprint == get("pumpkin-seeds").fingerprint


def test_line_ends_do_not_matter_but_a_digit_does(tmp_path):
    content = lzma.decompress((SHIPPED / "statlog-heart.dat.xz").read_bytes())
    (tmp_path / "heart.dat").write_bytes(content.replace(b"\n", b"\r\n").rstrip())
    where = {"cache": tmp_path, "mirror": "", "offline": True, "source": "official"}
    assert load("heart-statlog", **where).source == "cache"
    (tmp_path / "heart.dat").write_bytes(content.replace(b"2.4", b"2.5", 1))
    with pytest.raises(DatasetUnavailable, match="first 'oldpeak'") as caught:
        load("heart-statlog", **where)
    assert caught.value.refused[0].startswith("cache, heart.dat: expected fingerprint")
    # the shipped copy serves in its place, and the refusal is kept
    data = load("heart-statlog", **where | {"source": "nearest"})
    assert (data.source, data.refused) == ("shipped", tuple(caught.value.refused))


@pytest.mark.parametrize("name", {**read_registry(own=False).tables, **read_cities().tables})
def test_every_table_is_shipped(tmp_path, name):
    entry = (read_registry(own=False).tables | read_cities().tables)[name]
    found = obtain({name: entry}, places_of(cache=tmp_path, mirror="", offline=True))
    assert (found.sources, found.refused) == (["shipped"], [])


def test_the_shipped_files_are_those_of_their_readme_and_small():
    text = (SHIPPED / "README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"(?m)^    ([0-9a-f]{64})  (\S+)$", text))
    files = {path for path in SHIPPED.iterdir() if path.name != "README.md"}
    found = {hashlib.sha256(path.read_bytes()).hexdigest(): path.name for path in files}
    assert found == told
    table = text.split("## sha256")[0]
    assert [path.name for path in files if f"`{path.name}`" not in table
            and f"[{path.name}]" not in table] == []  # fmt: skip
    assert sum(path.stat().st_size for path in files) < 2e6


def test_every_missing_table_is_named(tmp_path):
    (tmp_path / "registry.yaml").write_bytes((REPOSITORY / "data/registry.yaml").read_bytes())
    where = {"mirror": tmp_path / "gone", "registry": tmp_path / "registry.yaml"}
    with pytest.raises(DatasetUnavailable) as caught:
        load("wine-quality", cache=tmp_path, offline=True, **where)
    message = str(caught.value)
    for part in ("'wine-quality'", "'wine-red'", "'wine-white'", "no folder", "not asked"):
        assert part in message


def test_a_recipe_that_gives_something_else_is_refused():
    entry = TaskEntry.model_validate(copies.registry_content()["sets"]["toy"])
    assert build("toy", entry, [copies.table()], "here").source == "here"
    for change in ({"shape": [39, 2]}, {"fingerprint": "0" * 64}, {"target": "width"}):
        with pytest.raises(DatasetUnavailable, match="here: expected shape"):
            build("toy", entry.model_copy(update=change), [copies.table()], "here")


def test_any_column_may_be_the_target():
    features, target, extra = parts(None, "height", [copies.table()])
    assert list(features) == ["width", "kind"]
    assert np.array_equal(target, copies.table()["height"])
    assert extra == {}


def test_unknown_name():
    with pytest.raises(ValueError, match="got 'iris'"):
        load("iris")


def prepare(name, npz, **places):
    """Prepare a data set."""
    return sets.prepare(name, npz, partial(dataset_contents, name, **places))


@pytest.fixture
def where(tmp_path):
    """Return the arguments that find the synthetic set in a mirror."""
    copies.put(tmp_path / "mirror", copies.text())
    registry = copies.write_registry(tmp_path)
    return {"cache": tmp_path / "raw", "mirror": tmp_path / "mirror", "registry": registry}


def test_round_trip(tmp_path, where):
    status = prepare("toy", tmp_path / "out" / "toy.npz", **where)
    assert json.loads((tmp_path / "out" / "toy.json").read_text()) == status
    toy = copies.table()
    assert status == {
        "name": "toy",
        "status": "ok",
        "reason": "",
        "source": "mirror",
        "refused": [],
        "fingerprint": copies.registry_content()["sets"]["toy"]["fingerprint"],
        "shape": [copies.ROWS, 2],
    }
    data = read_prepared(tmp_path / "out" / "toy.npz")
    assert (data.name, data.title, data.task) == ("toy", "Toy", "classification")
    assert data.feature_names == ("width", "height")
    assert data.features.tobytes() == toy.values[:, :2].tobytes()
    assert data.target.tobytes() == toy.values[:, 2].tobytes()
    assert data.fingerprint == status["fingerprint"]
    assert data.features.dtype == data.target.dtype == np.float64


def test_extra_columns_survive(tmp_path, where):
    contents = dataset_contents("toy", **where)
    more = contents._replace(arrays={**contents.arrays, "extra/weight": np.arange(3.0)})
    sets.prepare("toy", tmp_path / "toy.npz", lambda: more)
    assert read_prepared(tmp_path / "toy.npz").extra["weight"].tolist() == [0, 1, 2]


def _reversed(arrays):
    arrays["features"] = arrays["features"][:, ::-1]


def _one_bit(arrays):
    arrays["target"] = arrays["target"].copy()
    arrays["target"][3] = np.nextafter(arrays["target"][3], 2.0)


def _other_names(arrays):
    arrays["feature_names"] = arrays["feature_names"][::-1]


def _extra(arrays):
    arrays["extra/weight"] = np.zeros(3)


def _no_digest(arrays):
    del arrays["digest"]


@pytest.mark.parametrize("change", [_reversed, _one_bit, _other_names, _extra, _no_digest])
def test_altered_arrays_are_refused(tmp_path, where, change):
    path = tmp_path / "toy.npz"
    prepare("toy", path, **where)
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    change(arrays)
    np.savez_compressed(path, **arrays)
    with pytest.raises(ValueError, match=r"toy\.npz: expected arrays .* delete the file and run"):
        read_prepared(path)


def test_equal_content_gives_equal_bytes_wherever_it_came_from(tmp_path, where):
    prepare("toy", tmp_path / "a.npz", **where)
    copies.put(tmp_path / "raw", copies.workbook(), "toy-table.xlsx")
    assert prepare("toy", tmp_path / "b.npz", **where)["source"] == "cache"
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_set_that_cannot_be_had_is_an_error_and_writes_nothing(tmp_path, where):
    where["mirror"] = tmp_path / "nowhere"
    with pytest.raises(DatasetUnavailable, match=r"'toy' is not available: cache.*no folder"):
        prepare("toy", tmp_path / "out" / "toy.npz", **where)
    assert not (tmp_path / "out").exists()


def test_a_wrong_copy_that_travels_with_the_repository_is_an_error_beside_a_good_one(
    tmp_path, where
):
    bad = copies.put(tmp_path / "shipped", copies.text()[:-200], "toy-table.csv")
    npz = tmp_path / "out" / "toy.npz"
    assert prepare("toy", npz, **where)["status"] == "ok"  # the mirror's comes first
    where["mirror"] = ""
    good = copies.put(tmp_path / "shipped", copies.text(), "toy-table.xyz")
    with pytest.raises(DatasetUnavailable, match=rf"shipped, {bad.name}: "):
        prepare("toy", npz, **where)
    bad.unlink()
    assert prepare("toy", npz, **where)["source"] == "shipped"
    assert good.is_file()


def test_the_table_of_statuses_names_what_is_missing(tmp_path, where):
    prepare("toy", tmp_path / "toy.npz", **where)
    table = sets.status_table([str(tmp_path / "toy.json")], {"a": "no copy"})
    assert table.to_dict("records") == [
        {"name": "a", "status": "missing", "samples": "", "features": "", "fingerprint": "",
         "reason": "no copy"},
        {"name": "toy", "status": "ok", "samples": copies.ROWS, "features": 2,
         "fingerprint": copies.registry_content()["sets"]["toy"]["fingerprint"], "reason": ""},
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"status": "ok"}', b"{}", b"\xff"])
def test_a_garbled_status_is_named_with_what_to_do(tmp_path, content):
    path = tmp_path / "airfoil.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"airfoil\.json: .*; delete it and .*airfoil\.npz and"):
        sets.status_table([str(path)], {})


def test_an_unknown_name_is_not_prepared(tmp_path, where):
    with pytest.raises(ValueError, match="expected one of toy, got 'tyo'"):
        prepare("tyo", tmp_path / "toy.npz", **where)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, where, monkeypatch):
    prepare("toy", tmp_path / "out" / "toy.npz", **where)
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def interrupt(stream, **_arrays):
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(sets.np, "savez_compressed", interrupt)
    with pytest.raises(KeyboardInterrupt):
        prepare("toy", tmp_path / "out" / "toy.npz", **where)
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


class Payload:
    def __reduce__(self):
        return (exec, ("raise SystemExit('the pickle ran')",))


def test_what_is_no_prepared_set_is_refused_and_never_unpickled(tmp_path, where):
    prepare("toy", tmp_path / "toy.npz", **where)
    path = tmp_path / "bad.npz"
    good = (tmp_path / "toy.npz").read_bytes()
    for content in (b"", b"text", good[: len(good) // 2], pickle.dumps(Payload())):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"bad\.npz: not a readable archive"):
            read_prepared(path)
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(ValueError, match=r"bad\.npz: not a readable archive"):
        read_prepared(path)
    np.savez(path, facts=np.array([Payload()], dtype=object))
    with pytest.raises(ValueError, match=r"bad\.npz: not a readable archive"):
        read_prepared(path)
