"""States of a run on disk: the same back, no others, never a part."""

import numpy as np
import pytest

from dpnoise_papers.inid_2024.deep.records import read_state, save_state

STATE = {"a": np.arange(6.0).reshape(2, 3), "b": np.float32([1e-45, np.nan, 3.4e38])}


def test_what_is_saved_comes_back(tmp_path):
    path = tmp_path / "folder" / "state.npz"
    assert read_state(path, "x") is None
    save_state(path, "x", STATE)
    found = read_state(path, "x")
    assert found.keys() == STATE.keys()
    for name, array in STATE.items():
        assert found[name].dtype == array.dtype
        assert found[name].tobytes() == array.tobytes()


def test_files_are_the_same_bytes(tmp_path):
    save_state(tmp_path / "one", "x", STATE)
    save_state(tmp_path / "two", "x", STATE)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_another_run_is_refused(tmp_path):
    save_state(tmp_path / "state", "x", STATE)
    with pytest.raises(
        ValueError, match=r"of these settings, data and device \(y\), got one of others"
    ):
        read_state(tmp_path / "state", "y")


@pytest.mark.parametrize("content", [b"", b"no archive", "half"])
def test_a_damaged_file_is_refused(content, tmp_path):
    path = tmp_path / "state"
    save_state(path, "x", STATE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content == "half" else content)
    with pytest.raises(ValueError, match="got a damaged file"):
        read_state(path, "x")


def test_a_pickled_object_is_never_loaded(tmp_path):
    path = tmp_path / "state"
    with path.open("wb") as file:
        np.savez(file, digest=np.array("x"), a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="got a damaged file"):
        read_state(path, "x")
