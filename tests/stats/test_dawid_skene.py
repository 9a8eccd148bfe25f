from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.errors import UsageError
from resit.stats.dawid_skene import dawid_skene

# Dawid and Skene (1979), table 1: answers on 45 patients, three of the first anaesthetist and one of each of four others.
PATIENTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 1211111 "
    "1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121 "
    "1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222"
)
WHO = (0, 0, 0, 1, 2, 3, 4)


def patients() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [(i, WHO[at], int(c) - 1) for i, line in enumerate(PATIENTS.split()) for at, c in enumerate(line)]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def one_by_one(rows: list[tuple[int, int, int]], k: int, rounds: int) -> tuple[list[list[float]], list[float]]:
    """The algorithm of the paper with products and loops, without logarithms."""
    items, people = max(r[0] for r in rows) + 1, max(r[1] for r in rows) + 1
    posterior = [[sum(r[0] == i and r[2] == j for r in rows) for j in range(k)] for i in range(items)]
    posterior = [[x / max(1, sum(row)) for x in row] for row in posterior]
    answered = sorted({r[0] for r in rows})
    for _ in range(rounds):
        prevalence = [sum(posterior[i][j] for i in answered) / len(answered) for j in range(k)]
        error = [[[0.0] * k for _ in range(k)] for _ in range(people)]
        for i, p, a in rows:
            for j in range(k):
                error[p][j][a] += posterior[i][j]
        error = [[[x / sum(row) if sum(row) else 0.0 for x in row] for row in person] for person in error]
        for i in answered:
            joint = prevalence[:]
            for r in rows:
                if r[0] == i:
                    joint = [joint[j] * error[r[1]][j][r[2]] for j in range(k)]
            posterior[i] = [x / sum(joint) for x in joint]
    return posterior, prevalence


def test_the_anaesthetists_of_the_paper():
    found = dawid_skene(*patients(), answers=4)
    assert found.converged
    # Table 2 of the paper, to its two decimals.
    assert np.round(found.prevalence, 2).tolist() == [0.40, 0.42, 0.11, 0.07]
    assert np.round(found.confusion[0], 2).tolist()[:2] == [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0]]
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(45))
    assert found.confusion.sum(axis=2) == pytest.approx(np.ones((5, 4)))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(1, 8))
def test_it_agrees_with_the_plain_algorithm(seed, k, rounds):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    item, person, answer = rng.integers(0, 6, n), rng.integers(0, 4, n), rng.integers(0, k, n)
    posterior, prevalence = one_by_one(list(zip(item.tolist(), person.tolist(), answer.tolist(), strict=True)), k, rounds)
    found = dawid_skene(item, person, answer, answers=k, iterations=rounds, tolerance=-np.inf)
    assert found.iterations == rounds
    assert found.prevalence == pytest.approx(np.array(prevalence))
    seen = np.unique(item)
    assert found.posterior[seen] == pytest.approx(np.array(posterior)[seen])
    assert np.isnan(np.delete(found.posterior, seen, axis=0)).all()


def test_a_person_who_answers_upside_down_counts_as_much_as_a_good_one():
    rng = np.random.default_rng(0)
    truth = rng.random(2_000) < 0.4
    right = np.array([0.9, 0.9, 0.8, 0.1, 0.5])
    item, person = np.repeat(np.arange(2_000), 5), np.tile(np.arange(5), 2_000)
    answer = np.where(rng.random(10_000) < right[person], truth[item], ~truth[item]).astype(int)
    found = dawid_skene(item, person, answer, answers=2)
    assert found.prevalence[1] == pytest.approx(0.4, abs=0.03)
    assert found.confusion[:, 1, 1] == pytest.approx(right, abs=0.06)
    assert np.mean((found.posterior[:, 1] > 0.5) == truth) > 0.95
    majority = np.bincount(item, answer) > 2.5
    assert np.mean((found.posterior[:, 1] > 0.5) == truth) > np.mean(majority == truth)
    order = rng.permutation(10_000)
    again = dawid_skene(item[order], person[order], answer[order], answers=2)
    assert again.posterior == pytest.approx(found.posterior, abs=1e-6)


def test_answers_that_do_not_fit_are_refused():
    nothing = np.array([], int)
    with pytest.raises(UsageError, match="no answers"):
        dawid_skene(nothing, nothing, nothing, answers=2)
    one = np.array([0])
    with pytest.raises(UsageError, match="others than 0 to 1"):
        dawid_skene(one, one, np.array([2]), answers=2)
