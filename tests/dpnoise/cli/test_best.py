"""`dpnoise best` and `compare` give what the functions give."""

import pytest
from click.testing import CliRunner

from commands import data, text
from dpnoise import L1, L2, AtMost, Box, Budget, BudgetExceededError, Counts, LInf
from dpnoise.cli.program import program
from dpnoise.mechanisms.compare import best, compare

SETS = [
    ("--sensitivity 1.5", LInf(1.5)),
    ("--sensitivity 1,2,0.5", Box((1.0, 2.0, 0.5))),
    ("--at-most 2 --of 4 --each 2.5", AtMost(2, 4, 2.5)),
    ("--counts 2 --of 4 --each 2", Counts(2, of=4, each=2.0, relation="add-remove")),
    ("--l1 2 --of 3", L1(2.0, 3)),
    ("--l2 2 --of 3", L2(2.0, 3)),
    ("--linf 2 --of 3", LInf(2.0, 3)),
]


@pytest.mark.parametrize(("options", "ball"), SETS)
def test_best_in_json_is_exact(options, ball):
    delta = 1e-5 if "," in options else 0.0
    answer = data(f"best {options} --epsilon 0.7 --delta {delta} --relation add-remove")
    found = best(ball, epsilon=0.7, delta=delta)
    assert (answer["name"], answer["delta"]) == (found.name, found.delta)
    assert answer["variance"] == found.variance
    assert answer["variances"] == found.variances.tolist()
    assert answer["floor"] == found.floor
    assert answer["request"]["sensitivity"]["kind"] == type(ball).__name__
    assert answer["request"]["dimension"] == ball.dimension
    assert answer["request"]["relation"] == "add-remove"
    assert answer["request"]["sensitivity"]["relation"] == "add-remove"
    assert answer["promise"] == ball.stating("add-remove").promise(0.7, found.delta)


def test_counts_for_one_person_replaced_by_another():
    words = "best --counts 1 --of 4 --epsilon 1 --relation replace-one"
    for more, exactly in (("", False), (" --exactly", True)):
        answer = data(words + more)
        ball = Counts(1, of=4, exactly=exactly, relation="replace-one")
        assert answer["promise"] == best(ball, epsilon=1.0).promise
        assert answer["request"]["sensitivity"]["relation"] == "replace-one"


def test_compare_has_the_rows_of_the_function():
    words = "--sensitivity 1,2 --epsilon 1 --error mean-abs --relation replace-one --quick"
    answer = data(f"compare {words}")
    table = compare([1.0, 2.0], epsilon=1.0, error="mean-abs", exhaustive=False)
    assert [row["name"] for row in answer["mechanisms"]] == [row.name for row in table]
    assert [row["mean_abs"] for row in answer["mechanisms"]] == [row.mean_abs for row in table]
    assert answer["left_out"] == table.left_out


def test_the_python_call_gives_the_same_noise():
    words = "best --l2 2 --of 3 --epsilon 1 --delta 1e-6 --relation replace-one --family gaussian"
    page = text(words)
    call = next(line for line in page.splitlines() if line.startswith("in Python"))
    found = eval(call.removeprefix("in Python"), {"best": best, "L2": L2})  # noqa: S307
    assert f"{found.noise!r}" in page
    assert found.promise in page


@pytest.mark.parametrize("command", ["best", "compare"])
@pytest.mark.parametrize("more", ["", "--integer"])
def test_one_family_as_in_python(command, more):
    words = f"{command} --at-most 2 --of 3 --epsilon 1 --delta 1e-6 --relation add-remove {more}"
    answer = data(f"{words} --family laplace")
    ball = AtMost(2, of=3, relation="add-remove")
    table = compare(ball, epsilon=1.0, delta=1e-6, family="laplace", integer=bool(more))
    assert len(table) > 1
    if command == "best":
        assert (answer["name"], answer["variance"]) == (table[0].name, table[0].variance)
    else:
        assert [row["name"] for row in answer["mechanisms"]] == [row.name for row in table]
    assert answer["request"]["family"] == "laplace"
    assert answer["request"]["integer"] is (True if more else None)
    kind = "noise on the integers" if more else "noise"
    assert f"no {kind} for this set has a mean" in text(f"{words} --family laplace")
    without = words.replace("--delta 1e-6", "--quick" * (command == "compare"))
    assert data(without)["request"]["family"] is None


def test_noise_for_several_releases():
    words = "best --at-most 2 --of 3 --epsilon 1 --delta 1e-6 --relation add-remove --times 12"
    answer = data(words)
    ball = AtMost(2, of=3, relation="add-remove")
    found = best(ball, epsilon=1.0, delta=1e-6, times=12)
    assert (answer["request"]["times"], answer["variance"]) == (12, found.variance)
    assert answer["promise"] == found.promise
    budget = Budget(1.0, 1e-6)
    budget.spend(found, times=12)  # and once more is too much
    with pytest.raises(BudgetExceededError):
        budget.spend(found)
    assert "times=12" in text(words)
    table = data(words.replace("best", "compare") + " --quick")["mechanisms"]
    rows = compare(ball, epsilon=1.0, delta=1e-6, times=12, exhaustive=False)
    assert [row["variance"] for row in table] == [row.variance for row in rows]
    one = data(words.removesuffix(" --times 12"))
    assert one["request"]["times"] == 1
    assert one["variance"] < found.variance


@pytest.mark.parametrize("simultaneous", [False, True])
def test_the_least_epsilon_for_an_accuracy(simultaneous):
    words = "best --l1 1 --of 3 --relation add-remove --family laplace --within 4 --level 0.9"
    words += " --simultaneous" * simultaneous
    answer = data(words)
    more = {"level": 0.9, "simultaneous": simultaneous, "family": "laplace"}
    found = best(L1(1.0, of=3, relation="add-remove"), within=4.0, **more)
    assert answer["epsilon"] == found.epsilon
    shown = answer["interval"]["together" if simultaneous else "each"]
    assert shown == found.interval(0.9, simultaneous=simultaneous)[1].tolist()
    assert max(shown) == pytest.approx(4.0, rel=1e-5)
    page = text(words)
    assert f"90 % within         {min(answer['interval']['each']):.4g}, each" in page
    assert f"{max(answer['interval']['together']):.4g}, all of them together" in page


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "--within -2 --epsilon 1 --level 3",
            ("epsilon, within: expected one", "level: ", "within:"),
        ),
        ("--within x", ("within: expected a finite number",)),
        ("--simultaneous --level 1", ("--epsilon: ", "--level: ", "--simultaneous: ")),
    ],
)
def test_an_accuracy_that_cannot_be_is_named_with_all_other_problems(more, said):
    done = CliRunner().invoke(program, f"best --l2 1 --of 2 --delta 2 {more}".split())
    assert (done.exit_code, done.stdout) == (2, "")
    for part in ("delta: ", "--relation: ", *said):
        assert part in done.stderr


@pytest.mark.parametrize("times", ["0", "-3", "1.5", "x"])
def test_times_that_are_none_are_named_with_all_other_problems(times, tmp_path):
    words = f"best --l2 1 --of 2 --epsilon -1 --times {times} --certificate {tmp_path}/c.json"
    done = CliRunner().invoke(program, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    for part in ("epsilon", "--relation", "--times: expected a whole number of at least 1, got"):
        assert part in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_sizes_that_are_no_integers_are_named_with_all_other_problems():
    words = "best --sensitivity 1.5,2 --epsilon -1 --integer"
    done = CliRunner().invoke(program, words.split())
    assert done.exit_code == 2
    for problem in ("got 1.5 in Box", "epsilon: expected", "--relation: expected"):
        assert problem in done.stderr
