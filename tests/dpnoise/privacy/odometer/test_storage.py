"""Threads, forks, other processes and files: what is spent anywhere is counted everywhere."""

import copy
import json
import multiprocessing
import os
import pickle
import signal
import stat
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from joblib import parallel_backend
from sklearn.model_selection import GridSearchCV

from dpnoise import (
    Budget,
    BudgetExceededError,
    FlippedHuber,
    Gaussian,
    Laplace,
    SampledGaussian,
    release,
)
from dpnoise.learn import DPLinearRegression
from dpnoise.privacy.odometer import budget as module
from dpnoise.privacy.odometer import storage

METHODS = [  # all but a fork start an interpreter, a second each
    pytest.param(m, marks=() if m == "fork" else pytest.mark.slow)
    for m in multiprocessing.get_all_start_methods()
]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(autouse=True)
def _threads_that_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def spend_until_refused(spend, threads):
    """How many releases were accepted in all."""
    start = threading.Barrier(threads)

    def one(_):
        start.wait()
        accepted = 0
        while True:
            try:
                spend()
            except BudgetExceededError:
                return accepted
            accepted += 1

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(one, range(threads)))


@pytest.mark.parametrize("threads", [2, 8, 32])
def test_threads_spend_no_more_than_one_alone(threads):
    """The race of issue 40: two threads made 17 releases where 9 or so fit, eight made 60."""
    whole, shared = (Budget(2.0, 1e-5, relation="add-remove") for _ in range(2))
    alone = spend_until_refused(lambda: whole.spend(FlippedHuber(0.5, 6.0), 1.0), 1)
    found = spend_until_refused(lambda: shared.spend(FlippedHuber(0.5, 6.0), 1.0), threads)
    assert found == alone == len(shared.entries)
    assert shared.epsilon_of() == whole.epsilon_of() <= 2.0


@pytest.mark.parametrize("threads", [2, 32])
def test_no_entry_of_ten_thousand_is_lost(threads):
    budget = Budget(1.0, relation="add-remove")
    noise, each = Laplace(2.0**20), 10_000 // threads

    def spend(_):
        for _ in range(each):
            budget.spend(noise, 1.0)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(spend, range(threads)))
    assert len(budget.entries) == each * threads
    assert budget.epsilon_of() == each * threads / 2.0**20


class Meeting:
    """An account in whose check two threads wait for each other, as long as that may last."""

    def __init__(self, account):
        self._account, self._both = account, threading.Barrier(2)

    def __getattr__(self, name):
        return getattr(self._account, name)

    def keeps(self, ledger):
        try:
            self._both.wait(0.2)
        except threading.BrokenBarrierError:
            self._both.reset()
        return self._account.keeps(ledger)


@pytest.mark.parametrize("locked", [True, False])
def test_without_the_lock_a_release_would_be_lost(monkeypatch, locked):
    """A planted fault: two checks that overlap both pass, and one record is lost."""
    budget = Budget(1.0, relation="add-remove")
    budget._terms = budget._terms._replace(account=Meeting(budget._account))
    if not locked:
        monkeypatch.setattr(storage.Memory, "charging", lambda _: nullcontext())
    found = spend_until_refused(lambda: budget.spend(Laplace(1.0), 1.0), 2)
    assert (found, len(budget.entries)) == ((1, 1) if locked else (2, 1))


def test_a_pickled_budget_has_no_dict_that_others_extend():
    budget = Budget(1.0, 1e-6, relation="add-remove")
    budget.spend(Laplace(1024.0), 1.0)
    for kept in (budget._spent.before, budget._account):
        state = kept.__getstate__()
        assert state == vars(kept)
        assert state is not vars(kept)


def test_readers_see_one_moment_while_others_charge():
    budget, stop = Budget(1.0, relation="add-remove"), threading.Event()

    def charge():
        while not stop.is_set() and len(budget.entries) < 200:
            budget.spend(Laplace(1024.0), 1.0)

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(charge) for _ in range(2)]
        try:
            for _ in range(20):
                found = Budget.from_json(budget.to_json())
                assert found.epsilon_of() == len(found.entries) / 1024.0
                for copied in (copy.copy(budget), pickle.loads(pickle.dumps(budget))):  # noqa: S301
                    assert copied.epsilon_of() == len(copied.entries) / 1024.0
                spent, left = str(found).partition("\nspent: epsilon = ")[2].split("left:")
                assert float(spent.split()[0]) + float(left) == pytest.approx(1.0, abs=1e-3)
        finally:
            stop.set()
        for one in done:
            one.result()


def test_a_thread_may_not_charge_from_within_a_charge():
    """As a signal handler would: neither a deadlock nor a lost entry."""
    budget = Budget(1.0, relation="add-remove")

    class Inner(Meeting):
        def keeps(self, ledger):
            with pytest.raises(RuntimeError, match=r"one charge after another.*nothing was spent"):
                budget.spend_dp(0.5)
            return self._account.keeps(ledger)

    budget._terms = budget._terms._replace(account=Inner(budget._account))
    budget.spend_dp(0.25)
    assert budget.epsilon_of() == 0.25
    with pytest.raises(BudgetExceededError):
        budget.spend_dp(0.875)
    budget.spend_dp(0.125)
    assert budget.epsilon_of() == 0.375


def test_a_charge_of_another_thread_in_between_is_not_charged_instead(monkeypatch):
    """What was asked last may be replaced between the look at it and its use."""
    budget = Budget(10.0, relation="add-remove")
    strong, weak = Laplace(1.0), Laplace(1000.0)
    budget.spend(strong, 1.0)
    same = module._same

    def interrupted(before, asked):
        monkeypatch.setattr(module, "_same", same)
        budget.spend(weak, 1.0)
        return same(before, asked)

    monkeypatch.setattr(module, "_same", interrupted)
    budget.spend(strong, 1.0)
    assert budget.epsilon_of() == pytest.approx(2.001)


def test_answers_of_threads_are_those_of_one():
    """Sampled releases, whose account remembers what it was asked."""
    budgets = [Budget(9.0, 1e-6, relation="add-remove") for _ in range(4)]

    def ask(budget):
        for _ in range(3):
            budget.spend(SampledGaussian(2.0, 0.01), times=50)
        return [budget.epsilon_of(delta) for delta in (1e-6, 1e-5)]

    expected = ask(Budget(9.0, 1e-6, relation="add-remove"))
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(ask, budgets))


def test_helpers_of_release_in_threads_spend_what_there_is():
    budget = Budget(1.0, relation="add-remove")
    found = spend_until_refused(
        lambda: release.count(100, epsilon=0.125, relation="add-remove", budget=budget), 8
    )
    assert found == 8 == len(budget.entries)
    assert budget.remaining() == 0.0


@pytest.mark.filterwarnings("ignore")
def test_each_fit_of_a_grid_search_in_threads_is_an_entry():
    """The search of issue 40, which made 24 fits and stated 4.4 to 4.7 of 8.156."""
    X, y = np.linspace(-1.0, 1.0, 120).reshape(60, 2), np.linspace(-1.0, 1.0, 60)
    budget = Budget(2.0, 1e-4, relation="replace-one")
    model = DPLinearRegression(
        mechanism="gaussian",
        epsilon=1.0,
        delta=1e-5,
        feature_bounds=1.0,
        target_bound=1.0,
        budget=budget,
    )
    search = GridSearchCV(model, {"fit_intercept": [True, False]}, cv=4, refit=False)
    with parallel_backend("threading", n_jobs=8):
        search.fit(X, y)
    results = search.cv_results_
    scores = [results[f"split{k}_test_score"] for k in range(4)]
    assert np.isfinite(scores).sum() == len(budget.entries) < 8
    assert budget.epsilon_of() <= 2.0


# Processes ----------------------------------------------------------------------------------------


def in_a_fork(task, seconds=60):
    """The exit status of a task in a fork, which is ended if it hangs; what it raised is told."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            status = 0 if task() is None else 2
        except BaseException as error:  # noqa: BLE001  (of pytest, too)
            os.write(2, repr(error).encode())
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refused(budget, pattern):
    with pytest.raises(ValueError, match=pattern):
        budget.spend_dp(0.25)


@needs_fork
def test_a_fork_shows_what_was_spent_and_refuses_to_be_charged():
    budget = Budget(1.0, relation="add-remove")
    budget.spend_dp(0.5)

    def task():
        assert (budget.epsilon_of(), budget.remaining(), len(budget.entries)) == (0.5, 0.5, 1)
        refused(
            budget, r"expected process \d+, which made it, got process \d+, a fork.*Budget.open"
        )
        assert in_a_fork(lambda: refused(budget, "which made it")) == 0
        mine = Budget(1.0, relation="add-remove")  # one of its own
        mine.spend_dp(1.0)
        assert budget.epsilon_of() == 0.5

    assert in_a_fork(task) == 0
    budget.spend_dp(0.5)
    assert budget.remaining() == 0.0


@contextmanager
def being_charged(budget):
    """A thread that holds the lock of a budget in the check of a release, until told to go on."""
    entered, go = threading.Event(), threading.Event()

    class Slow(Meeting):
        def keeps(self, ledger):
            entered.set()
            go.wait(60)
            return self._account.keeps(ledger)

    plain = budget._terms
    budget._terms = plain._replace(account=Slow(plain.account))
    thread = threading.Thread(target=budget.spend_dp, args=(0.25,))
    thread.start()
    assert entered.wait(60)
    budget._terms = plain
    yield go
    go.set()
    thread.join(60)
    assert not thread.is_alive()


@needs_fork
def test_a_fork_in_the_middle_of_a_charge_does_not_hang():
    budget = Budget(1.0, relation="add-remove")
    with being_charged(budget):
        assert in_a_fork(lambda: refused(budget, "which made it"), 20) == 0
        assert in_a_fork(lambda: None if budget.epsilon_of() == 0.0 else 1, 20) == 0
    assert budget.epsilon_of() == 0.25


# Files --------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "ledger.json"
    Budget.create(path, 1.0, relation="add-remove")
    return path


def test_a_ledger_in_a_file_goes_on_in_the_next_run(ledger):
    first, second = Budget.open(ledger), Budget.open(str(ledger))
    first.spend(Laplace(4.0), 1.0)
    second.spend_dp(0.5)
    assert first.epsilon_of() == second.epsilon_of() == Budget.open(ledger).epsilon_of() == 0.75
    assert first.entries == second.entries
    with pytest.raises(BudgetExceededError):
        first.spend_dp(0.375)
    assert Budget.from_json(ledger.read_bytes()).to_json() == second.to_json()
    assert repr(first) == f"Budget.open({str(ledger)!r})"
    assert first.path == ledger
    assert Budget(1.0).path is None
    assert sorted(path.name for path in ledger.parent.iterdir()) in (
        ["ledger.json"],
        ["ledger.json", "ledger.json.lock"],
    )


def test_all_of_a_budget_is_in_its_file(tmp_path):
    path, asked = tmp_path / "a", {"relation": "replace-one"}
    budget = Budget.create(path, 3.0, 1e-6, **asked)
    budget.spend(Gaussian(4.0), 1.0, times=2)
    again, same = Budget.open(path), Budget(3.0, 1e-6, **asked)
    same.spend(Gaussian(4.0), 1.0, times=2)
    assert again.epsilon_of() == budget.epsilon_of() == same.epsilon_of()
    assert (again.relation, again.adaptive) == ("replace-one", same.adaptive)
    assert again.to_json() == same.to_json()


@pytest.mark.parametrize("method", METHODS)
def test_processes_refuse_to_charge_a_copy_and_share_a_file(ledger, method):
    copied, budget = Budget(1.0, relation="add-remove"), Budget.open(ledger)
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        copies = [pool.submit(copied.spend_dp, 0.5) for _ in range(3)]
        found = [pool.submit(budget.spend_dp, 2.0**-7) for _ in range(40)]
        for _ in range(10):
            budget.spend_dp(2.0**-7)
        for one in copies:
            with pytest.raises(ValueError, match=r"expected the original.*got a copy"):
                one.result(120)
        for one in found:
            one.result(120)
    copied.spend_dp(1.0)
    assert len(budget.entries) == 50
    assert budget.epsilon_of() == 50 * 2.0**-7
    assert Budget.open(ledger).entries == budget.entries


def test_threads_with_budgets_of_their_own_share_a_file(ledger):
    def spend(_):
        return spend_until_refused(lambda: Budget.open(ledger).spend_dp(0.0625), 1)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(spend, range(4))) == 16
    assert Budget.open(ledger).remaining() == 0.0


@needs_fork
def test_a_fork_waits_for_the_charge_of_another_thread_and_counts_it(ledger):
    budget = Budget.open(ledger)
    with being_charged(budget) as go:
        threading.Timer(0.5, go.set).start()
        assert in_a_fork(lambda: budget.spend_dp(0.5), 40) == 0
    assert budget.epsilon_of() == 0.75


@needs_fork
def test_the_end_of_a_fork_does_not_free_the_lock_of_its_parent(ledger, monkeypatch):
    budget = Budget.open(ledger)
    monkeypatch.setattr(storage, "_WAIT", 0.2)
    with being_charged(budget):
        assert in_a_fork(budget._home.__dict__.clear) == 0
        with pytest.raises(RuntimeError, match=r"path: expected the lock.*nothing was spent"):
            Budget.open(ledger).spend_dp(0.5)
    assert budget.epsilon_of() == 0.25


@needs_fork
def test_a_process_that_is_killed_while_it_charges_holds_nobody_up(ledger):
    budget = Budget.open(ledger)
    ledger.with_name("ledger.json.new").write_text("half of a led")

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: die())
        assert in_a_fork(lambda: budget.spend_dp(0.5)) == -signal.SIGKILL
    budget.spend_dp(0.25)
    assert Budget.open(ledger).epsilon_of() == 0.25


def test_copies_of_a_budget_in_a_file_are_charged_there(ledger):
    budget = Budget.open(ledger)
    for other in (copy.copy(budget), copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))):  # noqa: S301
        other.spend_dp(0.25)
    assert budget.epsilon_of() == 0.75


def test_what_cannot_be_written_is_not_spent(ledger, monkeypatch):
    class Own(Laplace):
        pass

    budget = Budget.open(ledger)
    with pytest.raises(ValueError, match="noise: expected a family of the package to be written"):
        budget.spend(Own(4.0), 1.0)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        RuntimeError, match=r"path: expected a ledger that can be written.*No space"
    ):
        budget.spend_dp(0.25)
    monkeypatch.undo()
    assert budget.epsilon_of() == Budget.open(ledger).epsilon_of() == 0.0
    budget.spend_dp(1.0)


def test_texts_that_are_kept_are_those_of_the_entries_that_count(ledger, monkeypatch):
    """What was not written, or written by another one, is not what is written next."""
    first, second = Budget.open(ledger), Budget.open(ledger)
    first.spend_dp(0.1, label="a")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RuntimeError, match="No space"):
        first.spend_dp(0.1, label="lost")
    monkeypatch.undo()
    second.spend_dp(0.2, label="b")
    second.spend(Laplace(10.0), 1.0, label="c")
    first.spend_dp(0.1, label="d")
    text = ledger.read_text()
    assert [entry["label"] for entry in json.loads(text)["entries"]] == list("abcd")
    assert text == json.dumps(json.loads(text), indent=1) == first.to_json() == second.to_json()


def test_a_file_that_says_less_than_before_is_refused(ledger):
    """An older copy put back has a good digest; a budget that saw more refuses it."""
    budget, old = Budget.open(ledger), ledger.read_bytes()
    budget.spend_dp(0.5)
    new = ledger.read_bytes()
    ledger.write_bytes(old)
    for ask in (budget.epsilon_of, budget.remaining, lambda: budget.spend_dp(0.5)):
        with pytest.raises(ValueError, match="the entries that it had before"):
            ask()
    ledger.write_bytes(Budget(2.0, relation="add-remove").to_json().encode())
    with pytest.raises(ValueError, match="expected the budget and the entries that it had before"):
        budget.remaining()
    ledger.write_bytes(new)
    assert budget.remaining() == 0.5


def test_an_edited_file_is_taken_only_if_told_to(ledger):
    Budget.open(ledger).spend_dp(0.5)
    data = json.loads(ledger.read_bytes())
    data["epsilon"] = 2.0
    ledger.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"budget: '.*ledger.*': digest: expected"):
        Budget.open(ledger)
    assert Budget.open(ledger, edited=True).remaining() == 1.5
    assert Budget.open(ledger).remaining() == 1.5


def test_the_mode_of_a_file_is_kept(ledger):
    ledger.chmod(0o640)
    Budget.open(ledger).spend_dp(0.5)
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o640


def test_a_link_to_a_ledger_is_followed(ledger, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(ledger)
    Budget.open(link).spend_dp(0.5)
    assert link.is_symlink()
    assert Budget.open(ledger).remaining() == 0.5


@pytest.mark.parametrize("path", [3, None, "", "no/such/folder/ledger", "\0", ".", b"\xff\0"])
def test_a_path_that_is_none_is_named(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"budget: path: expected a file that Budget.create made"):
        Budget.open(path)
    with pytest.raises(ValueError, match=r"budget: epsilon: expected.*; path: expected a new file"):
        Budget.create(path, -1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_made_anew(ledger):
    before = ledger.read_bytes()
    with pytest.raises(ValueError, match=r"path: expected a new file, as Budget.open goes on"):
        Budget.create(ledger, 1.0)
    assert ledger.read_bytes() == before
    budget = Budget.open(ledger)
    ledger.unlink()
    with pytest.raises(
        RuntimeError, match=r"path: expected a ledger that can be read.*No such file"
    ):
        budget.spend_dp(0.5)
    with pytest.raises(RuntimeError, match="path: expected a ledger that can be read"):
        budget.remaining()


def test_many_charges_of_a_file_take_turns(ledger):
    """Two budgets that charge one after the other, each of which reads what the other wrote."""
    both = [Budget.open(ledger), Budget.open(ledger)]
    for k in range(60):
        both[k % 2].spend_dp(2.0**-7)
    assert both[0].entries == both[1].entries
    assert len(both[0].entries) == 60
