"""Estimators of scikit-learn, on pixels or on another model's features: ``sklearn:FILE.skops``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import ClassInfo
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.library import existing_file, first_line, library, loading, memory, versions
from resit.models.options import ModelOptions
from resit.models.protocol import Batch, FeatureModel, LabelSpace, ScoreKind, Scores, Transform
from resit.models.settings import refuse_unknown
from resit.models.sidecar import SETTINGS, read_sidecar
from resit.models.spaces import named, space
from resit.models.weights import file_digest, text_digest

EXTRA = "sklearn"
PICKLES = (".joblib", ".pkl", ".pickle")


class SklearnModel:
    """A fitted classifier of scikit-learn as a Model.

    Scores are of ``decision_function`` where there is one, else of ``predict_proba``.

    Parameters
    ----------
    name : str
        Its name.
    estimator : object
        A fitted classifier, or a pipeline that ends in one. It is given rows: features, or
        prepared inputs, flattened. `Preprocess` puts channels first, so fit on pixels in the order (3, height, width).
    classes : str, path, sequence or LabelSpace, optional
        What the estimator's own ``classes_`` mean: where they are whole numbers, places in this list; where they are text, ids
        in it. Default: their text is their id. A class that the estimator has not met has no score.
    transform : Transform, optional
        How images are prepared. Default: that of ``backbone``.
    backbone : FeatureModel, optional
        Whose features the estimator is given. Default: the flattened inputs.
    version : str, optional
        What tells two states of the estimator apart. Default: a digest of its pickle.

    Raises
    ------
    UsageError
        If it is not fitted, cannot give scores, or its classes are not in the list.
    """

    def __init__(
        self,
        name: str,
        estimator: Any,
        classes: object = None,
        transform: Transform | None = None,
        *,
        backbone: FeatureModel | None = None,
        version: str = "",
    ) -> None:
        self.id = ModelId(name)
        self._estimator, self._backbone = estimator, backbone
        self._method = next((kind for kind in ("decision_function", "predict_proba") if hasattr(estimator, kind)), "")
        if not self._method or not hasattr(estimator, "classes_"):
            what = f"a {type(estimator).__name__} that is not fitted, or gives no scores"
            raise UsageError(what, where=name, fix="Fit it; it needs decision_function or predict_proba.")
        self.score_kind: ScoreKind | None = "probability" if self._method == "predict_proba" else None
        self.label_space = _label_space(np.asarray(estimator.classes_), classes, name)
        if (transform is None) == (backbone is None):
            raise UsageError("either a transform or a backbone is needed", where=name, fix="Give one of them.")
        self.transform: Transform = backbone.transform if backbone else transform  # type: ignore[assignment]
        below = {f"backbone {key}": value for key, value in backbone.provenance.items()} if backbone else {}
        self.provenance: Mapping[str, str] = {
            "adapter": "sklearn",
            "weights": version or _digest(estimator),
            "scores": self._method,
            **versions("scikit-learn"),
            **below,
        }

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images, shape (b, number of classes).

        Raises
        ------
        OutOfMemory
            If the batch does not fit into memory.
        UsageError
            If the estimator does not take these inputs, or gives no score for each class.
        """
        return self._scored(self._rows(batch))

    def _rows(self, batch: Batch) -> Scores:
        if self._backbone:
            return self._backbone.features(batch)
        return np.array(batch).reshape(len(batch), -1)  # a copy: steps such as StandardScaler(copy=False) work in place

    def _scored(self, rows: Scores) -> Scores:
        try:
            with memory(self.id, len(rows)):
                scores = np.asarray(getattr(self._estimator, self._method)(rows))
        except ValueError as error:
            what = f"the estimator refuses {rows.shape[1]} inputs an image: {first_line(error)}"
            raise UsageError(what, where=self.id, fix="Prepare images as for its training.") from error
        if scores.ndim == 1 and len(self.label_space.classes) == 2:
            scores = np.stack([-scores, scores], axis=1)
        if scores.shape != (len(rows), len(self.label_space.classes)):
            what = f"scores of shape {scores.shape} for {len(self.label_space.classes)} classes"
            raise UsageError(
                what, where=self.id, fix="One-against-one decisions are no scores: use decision_function_shape='ovr'."
            )
        return scores


class LinearSklearnModel(SklearnModel):
    """A SklearnModel whose estimator is linear, as a FeatureModel. That it is so is checked with the first batch."""

    _is_checked = False

    def features(self, batch: Batch) -> Scores:
        """What the estimator is given, shape (b, number of features).

        Raises
        ------
        UsageError
            If the scores are not linear in them.
        """
        rows = self._rows(batch)
        if not self._is_checked and len(rows):
            weights, bias = self.head()
            scores, again = self._scored(rows), rows @ weights.T + bias
            if not np.allclose(again, scores, rtol=1e-3, atol=1e-3 * float(np.abs(scores).max())):
                raise UsageError("its scores are not linear in its inputs", where=self.id, fix="Use a linear estimator.")
            self._is_checked = True
        return rows

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights (classes, features) and biases (classes,)."""
        weights, bias = np.atleast_2d(self._estimator.coef_), np.atleast_1d(self._estimator.intercept_)
        if len(weights) == 1 and len(self.label_space.classes) == 2:
            weights, bias = np.concatenate([-weights, weights]), np.concatenate([-bias, bias])
        if len(bias) != len(weights):  # scikit-learn writes 0.0 where no intercept was fitted
            bias = np.broadcast_to(bias, len(weights))
        return weights.astype(np.float32), bias.astype(np.float32)


def sklearn_model(
    name: str,
    estimator: Any,
    classes: object = None,
    transform: Transform | None = None,
    *,
    backbone: FeatureModel | None = None,
    version: str = "",
) -> SklearnModel:
    """A model of an estimator; one with features where it has the weights of a linear decision. See `SklearnModel`."""
    linear = all(hasattr(estimator, part) for part in ("coef_", "intercept_", "decision_function"))
    kind = LinearSklearnModel if linear and np.ndim(estimator.coef_) in (1, 2) else SklearnModel
    return kind(name, estimator, classes, transform, backbone=backbone, version=version)


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> SklearnModel:
    """Load an estimator on pixels from a file.

    Parameters
    ----------
    name : str
        Path of a ``.skops`` file; or of a ``.joblib`` or ``.pkl`` file, which can run code and needs ``allow_pickle``.
    options : ModelOptions
    settings : mapping
        ``size``, ``resize``, ``interpolation``, ``mean`` and ``std``, unless a sidecar ``FILE.yaml`` has them. ``classes``:
        what the estimator's own classes mean; default: their text is their id.

    Raises
    ------
    UsageError
        If a library is missing, permission is, or the preprocessing is not known.
    InputError
        If the file cannot be read.
    """
    where = f"sklearn:{name}"
    refuse_unknown(settings, SETTINGS, where)
    library("sklearn", EXTRA)
    path = existing_file(name)
    estimator = _read(path, options)
    sidecar = read_sidecar(path, settings)
    classes = None if sidecar.classes is None else sidecar.label_space()
    return sklearn_model(path.stem, estimator, classes, sidecar.transform(), version=file_digest(path))


def _read(path: Path, options: ModelOptions) -> Any:
    suffix = path.suffix.lower()
    if suffix == ".skops":
        skops = library("skops.io", EXTRA)
        with loading(path, "Is it a file that skops wrote?"):
            unknown = skops.get_untrusted_types(file=path)
            if unknown and not options.allow_pickle:
                fix = "If you trust the file, allow code in it (allow_pickle)."
                raise UsageError(f"it has types that could run code: {', '.join(unknown)}", where=path, fix=fix)
            return skops.load(path, trusted=unknown)
    if suffix not in PICKLES:
        raise UsageError("no file of scikit-learn", where=path, fix=f"Use .skops, or {', '.join(PICKLES)}.")
    if not options.allow_pickle:
        fix = "If you trust the file, allow it (allow_pickle), or store it with skops."
        raise UsageError("a pickle can run code when it is read", where=path, fix=fix)
    with loading(path, "It may be cut off, or written by another version of scikit-learn."):
        return library("joblib", EXTRA).load(path)


def _label_space(own: npt.NDArray[Any], classes: object, name: str) -> LabelSpace:
    if own.ndim != 1:
        raise UsageError("an estimator of several outputs", where=name, fix="It must answer one question.")
    if own.dtype.kind == "f" and np.isfinite(own).all() and np.all(own == np.floor(own)):
        own = own.astype(np.int64)  # labels such as 3.0
    if classes is None:
        return space(f"classes of {name}", [ClassInfo(str(one), str(one)) for one in own.tolist()], name)
    given = named(classes, name)
    if own.dtype.kind in "iu":
        outside = [one for one in own.tolist() if not 0 <= one < len(given.classes)]
        chosen = [] if outside else [given.classes[one] for one in own.tolist()]
    else:
        by_id = {one.id: one for one in given.classes}
        outside = [one for one in own.tolist() if str(one) not in by_id]
        chosen = [by_id[str(one)] for one in own.tolist() if str(one) in by_id]
    if outside:
        what = f"the estimator's class {outside[0]!r} is none of the {len(given.classes)} of {given.name}"
        raise UsageError(what, where=name, fix="Give the list of classes that it was trained on.")
    whole = tuple(chosen) == given.classes
    return LabelSpace(given.name if whole else f"{len(chosen)} of {given.name}", tuple(chosen))


def _digest(estimator: Any) -> str:
    import pickle

    try:
        return text_digest(pickle.dumps(estimator, protocol=4).hex())
    except Exception as error:
        raise InputError("the estimator has no digest", where=type(estimator).__name__, fix="Give version=.") from error
