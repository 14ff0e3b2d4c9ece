import json
import pickle
import zipfile
from functools import partial

import numpy as np
import pytest

import data_copies as copies
from dpnoise_papers.data import prepared
from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import dataset_contents, read_prepared


def prepare(name, npz, *, tried_with=("request 0",), strict=False, **places):
    """Prepare a data set."""
    get = partial(dataset_contents, name, **places)
    return prepared.prepare(name, npz, get, tried_with=tried_with, strict=strict)


@pytest.fixture
def where(tmp_path):
    """Return the arguments that find the synthetic set in a mirror."""
    copies.put(tmp_path / "mirror", copies.text())
    registry = copies.write_registry(tmp_path)
    return {"cache": tmp_path / "raw", "mirror": tmp_path / "mirror", "registry": registry}


def test_round_trip(tmp_path, where):
    status = prepare("toy", tmp_path / "out" / "toy.npz", tried_with=["request 2"], **where)
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
        "tried_with": ["request 2"],
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
    prepared.prepare("toy", tmp_path / "toy.npz", lambda: more)
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


def test_altered_features_are_refused_by_the_fingerprint_of_the_registry(tmp_path, where):
    contents = dataset_contents("toy", **where)
    features = contents.arrays["features"][:, ::-1]
    wrong = contents._replace(arrays={**contents.arrays, "features": features})
    prepared.prepare("toy", tmp_path / "toy.npz", lambda: wrong)
    with pytest.raises(ValueError, match="expected fingerprint"):
        read_prepared(tmp_path / "toy.npz")


def test_equal_content_gives_equal_bytes_wherever_it_came_from(tmp_path, where):
    prepare("toy", tmp_path / "a.npz", **where)
    copies.put(tmp_path / "raw", copies.workbook(), "toy-table.xlsx")
    assert prepare("toy", tmp_path / "b.npz", **where)["source"] == "cache"
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_missing_set_does_not_stop_the_rest(tmp_path, where):
    where["mirror"] = ""
    status = prepare("toy", tmp_path / "x.npz", **where)
    assert (status["status"], status["source"], status["shape"]) == ("missing", "", [])
    assert status["reason"].startswith("cache: no file")
    with pytest.raises(DatasetUnavailable, match="cache: no file") as caught:
        read_prepared(tmp_path / "x.npz")
    assert caught.value.reason == status["reason"]
    (tmp_path / "x.json").unlink()
    with pytest.raises(DatasetUnavailable, match="status beside"):
        read_prepared(tmp_path / "x.npz")


def test_a_refused_copy_is_a_missing_set(tmp_path, where):
    copies.put(tmp_path / "mirror", copies.text()[:-200])
    status = prepare("toy", tmp_path / "toy.npz", **where)
    assert status["status"] == "missing"
    assert "toy_table.csv: " in status["reason"]


def test_a_missing_set_replaces_an_older_one(tmp_path, where):
    prepare("toy", tmp_path / "toy.npz", **where)
    prepare("toy", tmp_path / "toy.npz", **(where | {"mirror": ""}))
    with pytest.raises(DatasetUnavailable):
        read_prepared(tmp_path / "toy.npz")


def test_strict_raises_and_writes_nothing(tmp_path, where):
    where["mirror"] = tmp_path / "nowhere"
    with pytest.raises(DatasetUnavailable, match=r"'toy' is not available.*no folder"):
        prepare("toy", tmp_path / "out" / "toy.npz", strict=True, **where)
    assert not (tmp_path / "out").exists()


def test_unknown_name(tmp_path, where):
    with pytest.raises(ValueError, match="expected one of toy, got 'tyo'"):
        prepare("tyo", tmp_path / "toy.npz", **where)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, where, monkeypatch):
    prepare("toy", tmp_path / "out" / "toy.npz", **where)
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def interrupt(stream, **_arrays):
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(prepared.np, "savez_compressed", interrupt)
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
    prepared.prepare("toy", path, lambda: prepared.Contents({"features": np.zeros((2, 2))}, {}))
    with pytest.raises(ValueError, match="lacks facts, target, feature_names"):
        read_prepared(path)
