"""Sets, from the copies that travel with the repository, against independent knowledge."""

import csv
import hashlib
import lzma
import re

import numpy as np
import openpyxl
import pytest

import data_copies as copies
from dpnoise_papers.data.copies import places_of
from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.fetch import NotFoundError, obtain
from dpnoise_papers.data.registry import REPOSITORY, TaskEntry, read_cities, read_registry
from dpnoise_papers.data.sets import build, load, parts

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


@pytest.mark.parametrize("name", read_registry().sets)
def test_every_set_is_what_the_registry_says(get, name):
    data, entry = get(name), read_registry().sets[name]
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


@pytest.mark.parametrize("name", {**read_registry().tables, **read_cities().tables})
def test_every_table_but_single_trips_is_shipped(tmp_path, name):
    entry = (read_registry().tables | read_cities().tables)[name]
    if entry.replaced_by:
        with pytest.raises(NotFoundError):
            obtain(name, entry, places_of(cache=tmp_path, mirror="", offline=True))
        return
    found = obtain(name, entry, places_of(cache=tmp_path, mirror="", offline=True))
    assert (found.source, found.refused) == ("shipped", [])


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
