"""What is true when people err, and how each of them errs: the model of Dawid and Skene, by expectation-maximisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Ints = npt.NDArray[np.int_]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """A fit of the model.

    Parameters
    ----------
    posterior : ndarray of float, shape (items, K)
        Probability that each answer is the true one, given everybody's answers; NaN for an item without answers.
    prevalence : ndarray of float, shape (K,)
        Share of each true answer.
    confusion : ndarray of float, shape (people, K, K)
        Probability of each answer (last axis) where the true one is given (axis 1); NaN where a person has seen no such item.
    log_likelihood : float
    iterations : int
    converged : bool
        Whether the log-likelihood came to rest within the allowed iterations.
    """

    posterior: Array
    prevalence: Array
    confusion: Array
    log_likelihood: float
    iterations: int
    converged: bool


def dawid_skene(
    item: Ints,
    person: Ints,
    answer: Ints,
    *,
    answers: int,
    iterations: int = 500,
    tolerance: float = 1e-9,
) -> DawidSkene:
    """Maximum-likelihood estimates of true answers, their prevalence, and each person's error rates.

    A person gives answer l to an item whose true answer is j with probability confusion[person, j, l], independently of others.
    Iterations start from each item's shares of answers (equation 3.1 of the paper), so that nothing is random.

    Parameters
    ----------
    item, person, answer : ndarray of int, shape (n,)
        Each answer that was given, all numbered from 0. A person may answer an item more than once.
    answers : int
        Number K of possible answers.
    iterations : int, optional
        Most iterations.
    tolerance : float, optional
        Rest: the log-likelihood rises by less than this share of itself.

    Returns
    -------
    DawidSkene

    Raises
    ------
    UsageError
        If there are no answers, or one is not in 0 … K - 1.

    Notes
    -----
    The maximum that is found may be a local one. Error rates of a person with few answers are known badly, and posteriors do
    not tell so: they are too near to 0 and 1 there.

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28(1), 20-28.
    """
    if not len(item) or answer.min() < 0 or answer.max() >= answers:
        raise UsageError(f"no answers, or others than 0 to {answers - 1}", where="dawid_skene", fix="Number answers from 0.")
    items, people = int(item.max()) + 1, int(person.max()) + 1
    shares = np.bincount(item * answers + answer, minlength=items * answers).reshape(items, answers).astype(float)
    seen = shares.sum(axis=1) > 0
    posterior = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)
    cell = person * answers + answer
    before, done, converged = -np.inf, 0, False
    while done < iterations and not converged:
        done += 1
        prevalence = posterior[seen].mean(axis=0)
        confusion = _confusion(posterior, item, cell, people)
        posterior, likelihood = _posterior(prevalence, confusion, item, cell, items)
        posterior[~seen] = 0
        converged = likelihood - before <= tolerance * abs(likelihood)
        before = likelihood
    posterior[~seen] = np.nan
    return DawidSkene(posterior, prevalence, confusion, float(likelihood), done, converged)


def _confusion(posterior: Array, item: Ints, cell: Ints, people: int) -> Array:
    """Equation 2.3: answers of each person, weighted by how probable each truth is."""
    answers = posterior.shape[1]
    found = np.empty((people, answers, answers))
    for truth in range(answers):
        weights = np.bincount(cell, posterior[item, truth], minlength=people * answers)
        found[:, truth] = weights.reshape(people, answers)
    total = found.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(found, total, out=np.full_like(found, np.nan), where=total > 0), float)


def _posterior(prevalence: Array, confusion: Array, item: Ints, cell: Ints, items: int) -> tuple[Array, float]:
    """Equation 2.5, in logarithms, and the log-likelihood of what the estimates were made from."""
    answers = len(prevalence)
    with np.errstate(divide="ignore"):
        chance, logs = np.log(prevalence), np.log(np.nan_to_num(confusion))
    joint = np.empty((items, answers))
    for truth in range(answers):
        joint[:, truth] = np.bincount(item, logs[:, truth].ravel()[cell], minlength=items) + chance[truth]
    top = joint.max(axis=1, keepdims=True)
    scaled = np.exp(joint - top)
    total = scaled.sum(axis=1, keepdims=True)
    counted = np.bincount(item, minlength=items) > 0
    return scaled / total, float((top + np.log(total))[counted].sum())
