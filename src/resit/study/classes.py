"""What changes class by class, and which classes are taken for which, averaged over the baseline models."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.data.predictions import Predictions
from resit.study.pairing import Pairing
from resit.study.result import ClassRow, Confusion

Array = npt.NDArray[np.float64]
MOST_CLASSES = 5_000
SHOWN_CONFUSIONS = 50
CELLS = 2_000_000


def why_not(pairing: Pairing) -> str | None:
    """Why there is nothing to say class by class, or None where there is."""
    for view in (pairing.original, pairing.new):
        if view.predictions is None or view.predictions.is_correctness:
            return f"{view.name}: the classes that models answered are not known"
        if not view.predictions.benchmark.single_label:
            return f"{view.name}: not every example has exactly one label"
        if view.predictions.benchmark.n_classes > MOST_CLASSES:
            return f"{view.name}: more than {MOST_CLASSES} classes"
    return None if _shared_classes(pairing) else "the two sets share no class id"


def _answers(pairing: Pairing) -> tuple[Predictions, Predictions]:
    old, new = pairing.original.predictions, pairing.new.predictions
    assert old is not None
    assert new is not None
    return old, new


def _shared_classes(pairing: Pairing) -> list[tuple[int, int]]:
    """Indices, on the original and on the new set, of the classes whose id both have."""
    old, new = (part.benchmark for part in _answers(pairing))
    index = {new.class_id(at): at for at in range(new.n_classes)}
    return [(at, index[old.class_id(at)]) for at in range(old.n_classes) if old.class_id(at) in index]


def class_rows(pairing: Pairing) -> tuple[ClassRow, ...]:
    """Accuracy of each class on both sets, averaged over the baseline models (Recht et al. 2019, appendix C.4.8)."""
    old, new = _answers(pairing)
    (n_old, right_old), (n_new, right_new) = (
        _by_class(view.right(pairing.metric, pairing.baseline_models), part)
        for view, part in ((pairing.original, old), (pairing.new, new))
    )
    return tuple(
        ClassRow(
            id=old.benchmark.class_id(a),
            name=old.benchmark.class_name(a),
            n_original=int(n_old[a]),
            n_new=int(n_new[b]),
            original=right_old[a] if n_old[a] else None,
            new=right_new[b] if n_new[b] else None,
            change=right_new[b] - right_old[a] if n_old[a] and n_new[b] else None,
        )
        for a, b in _shared_classes(pairing)
    )


def _by_class(right: npt.NDArray[np.bool_] | None, predictions: Predictions) -> tuple[list[int], list[float]]:
    assert right is not None
    labels, size = predictions.benchmark.labels[:, 0], predictions.benchmark.n_classes
    n = np.bincount(labels, minlength=size)
    total = np.bincount(labels, weights=right.mean(axis=0), minlength=size)
    return n.tolist(), np.divide(total, n, out=np.zeros(size), where=n > 0).tolist()


def confusions(pairing: Pairing) -> tuple[Confusion, ...]:
    """Pairs of classes most often confused by first answers on the new set, with how often they are on the original.

    They belong to top-1: first answers are the same whatever the metric.
    """
    old, new = _answers(pairing)
    shared = _shared_classes(pairing)
    on_old, on_new = (_confusion_rates(part, pairing.baseline_models) for part in (old, new))
    a, b = np.array(shared).T
    rates = on_new[np.ix_(b, b)]
    order = np.argsort(-rates, axis=None, kind="stable")[:SHOWN_CONFUSIONS]
    rows, columns = np.unravel_index(order, rates.shape)
    return tuple(
        Confusion(
            true_id=old.benchmark.class_id(int(a[i])),
            true_name=old.benchmark.class_name(int(a[i])),
            answered_id=old.benchmark.class_id(int(a[j])),
            answered_name=old.benchmark.class_name(int(a[j])),
            original=float(on_old[a[i], a[j]]),
            new=float(rates[i, j]),
        )
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
        if rates[i, j] > 0
    )


def _confusion_rates(predictions: Predictions, models: tuple[ModelId, ...]) -> Array:
    size = predictions.benchmark.n_classes
    labels = predictions.benchmark.labels[:, 0].astype(np.int64)
    counts = np.zeros(size * size, np.int64)
    row = {model: at for at, model in enumerate(predictions.models)}
    rows = np.array([row[model] for model in models])
    step = max(1, CELLS // max(1, len(labels)))
    for block in np.split(rows, range(step, len(rows), step)):
        answers = predictions.answers[block, :, 0].astype(np.int64)
        wrong = (answers >= 0) & (answers < size) & (answers != labels)
        counts += np.bincount((labels * size + answers)[wrong], minlength=size * size)
    n = np.bincount(labels, minlength=size)[:, None] * len(models)
    return np.divide(counts.reshape(size, size), n, out=np.zeros((size, size)), where=n > 0)
