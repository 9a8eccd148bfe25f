"""Whether a test set has as many examples, in all and of each class, as its card says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from resit.data.benchmark import Benchmark
from resit.data.card import Card
from resit.data.paths import short_list
from resit.errors import InputError, Notice


def expected_counts(benchmark: Benchmark, card: Card) -> dict[str, int]:
    """Number of examples that each class should have, by its id; empty where it is not known."""
    if card.per_class is None:
        return {}
    if isinstance(card.per_class, Mapping):
        return dict(card.per_class)
    return {benchmark.class_id(index): card.per_class for index in range(benchmark.n_classes)}


def counts(benchmark: Benchmark) -> dict[str, int]:
    """Number of examples of each class, by its id. An example with several accepted labels counts for each."""
    labels = benchmark.labels[benchmark.labels >= 0]
    found = np.bincount(labels, minlength=benchmark.n_classes)
    return {benchmark.class_id(index): int(found[index]) for index in range(len(found))}


def differences(benchmark: Benchmark, card: Card) -> list[str]:
    """What differs from the card, in words; empty where nothing does."""
    told = []
    if card.n is not None and benchmark.n != card.n:
        change = f"{abs(benchmark.n - card.n):,} too {'few' if benchmark.n < card.n else 'many'}"
        told.append(f"{benchmark.n:,} examples, while {card.where} says {card.n:,} ({change})")
    found = counts(benchmark)
    wrong = [(key, found.get(key, 0), want) for key, want in expected_counts(benchmark, card).items()]
    wrong = [(key, have, want) for key, have, want in wrong if have != want]
    if wrong:
        shown = short_list(f"{key} has {have}, not {want}" for key, have, want in wrong)
        told.append(f"{len(wrong)} class{'es' if len(wrong) > 1 else ''} with another number of examples: {shown}")
    return told


def check_expected(benchmark: Benchmark, card: Card, *, partial: bool) -> Benchmark:
    """The benchmark, checked against its card.

    Parameters
    ----------
    benchmark : Benchmark
    card : Card
    partial : bool
        Whether differences are told in a notice.

    Raises
    ------
    InputError
        If the numbers differ, unless ``partial``.
    """
    told = differences(benchmark, card)
    if not told:
        return benchmark
    if not partial:
        fix = "See `resit data verify` for what is missing; partial=True (--partial) takes it as it is."
        raise InputError("; ".join(told), where=benchmark.name, fix=fix)
    notice = Notice("partial", benchmark.name, f"Not the whole test set: {'; '.join(told)}.")
    return replace(benchmark, notices=(*benchmark.notices, notice))
