"""The independent checker on Python 3.8 to 3.13: same verdicts, nothing that is newer."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from certificate_claims import random_claims
from dpnoise import Gaussian, Laplace, TruncatedLaplace, certify
from dpnoise.certificates import checker
from dpnoise.certificates.document import digest_of

SOURCE = Path(checker.__file__)
MINORS = range(8, 14)
# What Python 3.8 has of the modules that the checker imports, as far as the checker needs it.
OLD = {
    "hashlib": {"sha256"},
    "json": {"dumps", "loads"},
    "math": {"ceil", "isqrt"},
    "sys": {"argv", "exit", "stderr", "stdout", "version_info"},
}
NEW_METHODS = {"bit_count", "is_integer", "removeprefix", "removesuffix"}


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def newer(tree):
    """What in a program needs a Python after 3.8, without its annotations, which are not run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = getattr(node.value, "id", None)
            if node.attr in NEW_METHODS or node.attr not in OLD.get(module, {node.attr}):
                yield ast.unparse(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
            yield "|="
        if isinstance(node, ast.Call) and "strict" in {word.arg for word in node.keywords}:
            yield "strict"
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in {"tuple", "list"}:
            yield ast.unparse(node)


def without_annotations(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                argument.annotation = None
    return tree


def test_it_uses_nothing_that_python_3_8_lacks():
    text = SOURCE.read_text(encoding="ascii")
    ast.parse(text, feature_version=(3, 8))
    assert "from __future__ import annotations" in text
    assert not list(newer(without_annotations(ast.parse(text))))


NEWER = "math.lcm(2, 3); x |= y; zip(x, y, strict=True); Pair = tuple[int, int]; (3).bit_count()"


@pytest.mark.parametrize("line", NEWER.split("; "))
def test_what_is_newer_is_found(line):
    assert list(newer(without_annotations(ast.parse(line))))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Certificates that hold, that are changed in one place, and that are not covered."""
    folder, rng = tmp_path_factory.mktemp("certificates"), np.random.default_rng(5)
    claims = [
        *[*random_claims(rng)][::3],
        (Laplace(1.0), [1.0, 1.0], 0.5),
        (TruncatedLaplace(2.0, 20.0), 1.0, 0.25),
        (Gaussian(0.3), 1.0, 40.0),
    ]
    for k, (noise, ball, epsilon) in enumerate(claims):
        stated = getattr(ball, "relation", None) or "replace-one"
        certificate = certify(noise, ball, epsilon, relation=stated)
        certificate.write(folder / f"{k}-true.json")
        content = json.loads(certificate.to_json())
        content["delta"] = {"lower": "0", "upper": "1/1" + "0" * 400}
        content["digest"] = digest_of(content)
        (folder / f"{k}-false.json").write_text(json.dumps(content, indent=1))
        (folder / f"{k}-damaged.json").write_text(certificate.to_json().replace("1", "2"))
    return sorted(folder.iterdir())


def verdicts(python, files):
    command = [python, "-I", "-S", str(SOURCE), *(path.name for path in files)]
    done = subprocess.run(command, cwd=files[0].parent, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope="module")
def ours(files):
    return verdicts(sys.executable, files)


def test_the_verdicts_of_this_python_are_of_every_kind(ours):
    kinds = {line.split(": ")[1] for line in ours[1]}
    assert kinds == {"verified", "refused", "not covered by this checker"}
    assert not [line for line in ours[1] if "-true" in line and ": refused" in line]
    assert not [line for line in ours[1] if "-damaged" in line and ": refused" not in line]


def interpreter(minor):
    """A Python of that version on this machine; None if there is none that starts."""
    name = f"python3.{minor}"
    managed = Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}")
    for path in filter(None, [shutil.which(name), *map(str, sorted(managed))]):
        if not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode:
            return path
    return None


@pytest.mark.parametrize("minor", MINORS)
def test_every_python_comes_to_the_same_verdicts(minor, files, ours):
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no Python 3.{minor} on this machine")
    assert verdicts(python, files) == ours
