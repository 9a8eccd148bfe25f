"""Any classifier of scikit-learn, or one with its interface, as a model that can be trained."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from resit.errors import ResitError, UsageError
from resit.models.heads import EXTRA, hearing
from resit.models.library import first_line, library, versions
from resit.models.training.diverged import Diverged
from resit.models.training.linear import flat
from resit.models.training.protocol import Fitter, Inputs, Labels, Scores, Tell, Trained, digest, spread

MOST_SEED = 2**32


@dataclass(frozen=True)
class Estimator:
    """A classifier by the name of its class.

    Parameters
    ----------
    path : str
        Module and class, such as ``sklearn.ensemble.RandomForestClassifier``.
    settings : mapping of str to object, optional
        Its parameters; ``random_state`` is given where it has one.
    threads : int, optional
        Of the libraries below.

    Raises
    ------
    UsageError
        If there is no such class, or it does not take the settings.
    """

    path: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 2

    def __post_init__(self) -> None:
        self._made(0)

    @property
    def name(self) -> str:
        """For people."""
        own = ", ".join(f"{key}={value}" for key, value in sorted(self.settings.items()))
        return f"{self.path.rpartition('.')[2]}({own})"

    @property
    def fingerprint(self) -> str:
        """Digest of the class, its parameters and the version of scikit-learn."""
        return digest("estimator 1", self.path, sorted(self.settings.items()), sorted(versions("scikit-learn").items()))

    @property
    def cpus(self) -> int:
        """Threads of a fit."""
        return self.threads

    @property
    def gpus(self) -> int:
        """None is used."""
        return 0

    def seconds(self, rows: int) -> float:
        """A guess: kinds differ."""
        return 1 + 1e-3 * rows

    def grid(self) -> tuple[tuple[str, Fitter], ...]:
        """None is known."""
        return ()

    def fit(self, inputs: Inputs, labels: Labels, n_classes: int, *, seed: int, tell: Tell) -> Trained:
        """Fit on examples; see :class:`resit.models.training.protocol.Fitter`."""
        from threadpoolctl import threadpool_limits

        if len(np.unique(labels)) < 2:
            raise UsageError(
                "training examples of fewer than two classes", where=self.name, fix="Give examples of two at least."
            )
        model = self._made(seed)
        with threadpool_limits(self.threads), hearing() as heard:
            try:
                model.fit(flat(inputs), labels)
            except Exception as error:
                what = f"the fit fails: {type(error).__name__}: {first_line(error)}"
                raise UsageError(what, where=self.name, fix="Check its parameters and inputs.") from error
        tell(f"{self.name}: fitted{', which says: ' + heard[0] if heard else ''}")
        return EstimatorTrained(model, self.name, n_classes)

    def _made(self, seed: int) -> Any:
        library("sklearn", EXTRA)
        module, _, name = self.path.rpartition(".")
        try:
            model = getattr(importlib.import_module(module), name)(**self.settings)
            own = model.get_params()
        except Exception as error:
            what = f"cannot be made: {type(error).__name__}: {first_line(error)}"
            raise UsageError(what, where=f"sklearn:{self.path}", fix="Write sklearn:module.Class?parameter=value.") from error
        return model.set_params(random_state=seed % MOST_SEED) if "random_state" in own else model


@dataclass(frozen=True)
class EstimatorTrained:
    """A fitted classifier."""

    model: Any
    name: str
    n_classes: int

    def scores(self, inputs: Inputs) -> Scores:
        """Probabilities where it has them, else decision values, else 1 for its answer; shape (n, n_classes).

        Raises
        ------
        Diverged
            If some are not finite.
        """
        features, classes = flat(inputs), np.asarray(self.model.classes_)
        try:
            if hasattr(self.model, "predict_proba"):
                found = np.asarray(self.model.predict_proba(features))
            elif hasattr(self.model, "decision_function"):
                found = np.asarray(self.model.decision_function(features))
                found = np.stack([-found, found], axis=1) if found.ndim == 1 else found
            else:
                found = (np.asarray(self.model.predict(features))[:, None] == classes).astype(float)
        except ResitError:
            raise
        except Exception as error:
            raise UsageError(f"cannot be asked: {type(error).__name__}: {first_line(error)}", where=self.name) from error
        if not np.isfinite(found).all():
            raise Diverged("the scores are not finite", where=self.name, fix="Look for values that are not finite.")
        return spread(classes, found, self.n_classes)
