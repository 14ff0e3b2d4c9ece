"""The commands that audit samplers, and that verify the certificates of other commands."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from dpnoise import Certificate, Gaussian, certify, verify
from dpnoise.certificates import checker
from dpnoise.cli.program import program


def audit(words):
    return CliRunner().invoke(program, ["audit", *words.split()])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng([2026, 5])
    for name, place in (("first.csv", 0.0), ("second.csv", 1.0)):
        outputs = np.round(rng.laplace(place, 1.0, (4000, 1)) * 2.0**20) / 2.0**20
        np.savetxt(name, outputs, header="answer", comments="")


def test_noise_of_a_family_stands_the_audit_and_too_little_of_it_does_not():
    good = audit("gaussian sigma=4.3 --sensitivity 1 --epsilon 1 --delta 1e-6 --size 50000")
    assert good.exit_code == 0
    assert "not contradicted" in good.stdout
    bad = audit("gaussian sigma=3.8 --sensitivity 1 --epsilon 1 --delta 1e-6 --size 5000")
    assert bad.exit_code == 1
    assert "gaussian  contradicted" in bad.stdout
    for done in (good, bad):
        assert "is not proved" in done.stdout


@pytest.mark.usefixtures("files")
def test_two_files_of_outputs_have_a_bound_and_with_a_claim_a_verdict():
    done = audit("--outputs first.csv second.csv --json")
    found = json.loads(done.stdout)["audits"]["outputs"]
    assert done.exit_code == 0
    assert 0.5 < found["epsilon"] < 1.0
    assert audit("--outputs first.csv second.csv --epsilon 0.5").exit_code == 1
    assert audit("--outputs first.csv second.csv --epsilon 0.5 --delta 0.5").exit_code == 0
    assert audit("--outputs second.csv first.csv --epsilon 1").exit_code == 0


def test_the_seed_decides_the_draws():
    words = "laplace beta=1 --sensitivity 1 --size 1000 --json --seed "
    one, again, other = (json.loads(audit(words + seed).stdout)["audits"] for seed in "112")
    assert one == again != other


@pytest.mark.usefixtures("files")
def test_one_of_the_two_files_may_be_standard_input(tmp_path):
    outputs, options = (tmp_path / "second.csv").read_text(), ["--epsilon", "0.5"]
    words = ["audit", "--outputs", "first.csv", "-", *options]
    done = CliRunner().invoke(program, words, input=outputs)
    assert done.exit_code == 1
    assert done.stdout == audit("--outputs first.csv second.csv --epsilon 0.5").stdout
    done = CliRunner().invoke(program, words, input="1,2\n3\n")
    assert "standard input: expected 2 number(s)" in done.stderr


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,2\n3\n", ["expected 2 number(s)", "line 2: '3'"]),
        ("1\n" + "x\n" * 13, ["line 2: 'x'", "and 1 more"]),
        ("head\n", ["got no rows"]),
        ("1\n2\n3\n", ["at least 4 outputs"]),
    ],
)
@pytest.mark.usefixtures("files")
def test_what_is_wrong_with_a_file_is_named_with_its_line(tmp_path, text, parts):
    (tmp_path / "bad.csv").write_text(text)
    done = audit("--outputs first.csv bad.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert all(part in done.stderr for part in parts), done.stderr


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("", ["expected FAMILY or --outputs", "got none"]),
        ("gaussian sigma=1 --outputs no.csv no.csv", ["got family and outputs"]),
        ("--outputs no.csv no.csv --sensitivity 2", ["sensitivity: expected none"]),
        ("gausian sigma=1", ["did you mean 'gaussian'?", "--sensitivity: expected"]),
        ("laplace beta=1 --sensitivity 1 --false-alarm 1", ["--false-alarm", "got 1.0"]),
        ("discrete-laplace beta=1 --sensitivity 1.5", ["integer", "1.5"]),
    ],
)
def test_a_mistake_is_one_message_and_no_answer(words, parts):
    done = audit(words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr


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
        "best --l2 1 --of 3 --epsilon 1 --delta 1e-6 --relation add-remove",
        "calibrate laplace --epsilon 1 --sensitivity 2 --dimension 3 --relation add-remove",
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
