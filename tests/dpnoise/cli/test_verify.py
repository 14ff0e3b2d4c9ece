"""`dpnoise verify`, and the certificates that `best` and `calibrate` write."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpnoise import Certificate, Gaussian, certify, verify
from dpnoise.certificates import checker
from dpnoise.cli.program import program


def run(*words):
    done = CliRunner().invoke(program, list(map(str, words)))
    assert not (done.stdout and done.stderr)
    return done


@pytest.fixture
def path(tmp_path):
    certify(Gaussian(4.0), 1.0, 1.0, relation="replace-one").write(tmp_path / "noise.json")
    return tmp_path / "noise.json"


@pytest.mark.parametrize(
    "words",
    [
        "best --sensitivity 1,0.1 --epsilon 1 --relation replace-one",
        "best --l2 1 --of 3 --epsilon 1 --delta 1e-6 --relation add-remove",
        "calibrate laplace --epsilon 1 --sensitivity 2 --dimension 3 --relation add-remove",
        "calibrate flipped-huber --epsilon 1 --delta 1e-6 --sensitivity 1 --relation replace-one",
    ],
)
def test_commands_write_certificates_that_hold(words, tmp_path):
    path = tmp_path / "found.json"
    assert run(*words.split(), "--certificate", path).exit_code == 0
    found = verify(path).certificate
    assert found.relation == ("add-remove" if "add-remove" in words else "replace-one")
    assert found.upper <= (1e-6 if "--delta" in words else 0.0)
    again = run("verify", path)
    assert again.exit_code == 0
    assert found.promise in again.stdout


def test_json_states_the_exact_bounds(path):
    done = run("verify", path, "--json")
    ((one,), certificate) = json.loads(done.stdout)["files"], Certificate.read(path)
    assert done.exit_code == 0
    assert one["holds"] is one["independent"] is True
    assert one["delta"]["upper"] == str(certificate.upper)
    assert one["promise"] == certificate.promise
    assert one["noise"] == {"kind": "Gaussian", "sigma": 4.0}


def test_one_refused_file_is_exit_code_1(path):
    bad = path.with_name("bad.json")
    bad.write_text(path.read_text().replace("replace-one", "add-remove"))
    done = run("verify", path, bad)
    assert done.exit_code == 1
    assert "certificates that hold: 1 of 2" in done.stdout
    assert "refused: certificate: digest: expected" in done.stdout
    answer = json.loads(run("verify", path, bad, "--json").stdout)["files"]
    assert [one["holds"] for one in answer] == [True, False]


def test_files_that_cannot_be_read_are_named_all_at_once(path, tmp_path):
    done = run("verify", path, tmp_path / "none.json", tmp_path)
    assert done.exit_code == 2
    assert not done.stdout
    assert "none.json: expected a file to read" in done.stderr
    assert f"{tmp_path}: expected a file to read" in done.stderr


def test_a_certificate_that_cannot_be_written_is_no_answer(tmp_path):
    target = tmp_path / "none" / "noise.json"
    words = "best --sensitivity 1 --epsilon 1 --relation add-remove --certificate"
    done = run(*words.split(), target)
    assert done.exit_code == 2
    assert not done.stdout


def test_a_certificate_comes_from_standard_input(path):
    good = path.read_bytes()
    held = CliRunner().invoke(program, ["verify", "-"], input=good)
    assert held.exit_code == 0
    assert "certificates that hold: 1 of 1" in held.stdout
    for data in (b"", good.replace(b"replace-one", b"add-remove")):
        refused = CliRunner().invoke(program, ["verify", "-"], input=data)
        assert refused.exit_code == 1
        assert "standard input  refused: certificate" in refused.stdout


def test_the_checker_that_is_written_out_is_that_of_the_package_and_runs(path, tmp_path):
    written = tmp_path / "checker.py"
    with written.open("wb") as file:
        subprocess.run([sys.executable, "-m", "dpnoise.cli", "checker"], stdout=file, check=True)
    assert written.read_bytes() == Path(checker.__file__).read_bytes()
    command = [sys.executable, "-I", "-S", str(written), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{path}: verified: delta <= ")
