"""Trainers of a study: those of the models room, with features that are computed once and kept."""

from __future__ import annotations

import shutil
import weakref
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from resit.data.benchmark import Benchmark
from resit.data.decode import fingerprint as decoding_fingerprint
from resit.evaluate.features import extract
from resit.evaluate.settings import EvaluateSettings
from resit.models.options import DEFAULT, ModelOptions
from resit.models.protocol import FeatureModel
from resit.models.training.load import load_trainer
from resit.models.training.protocol import Prepared, Tell, Trainer, digest


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Features of a model, computed once and kept in a folder.

    Parameters
    ----------
    model : FeatureModel
    folder : Path
    settings : EvaluateSettings
    """

    model: FeatureModel
    folder: Path
    settings: EvaluateSettings

    @property
    def name(self) -> str:
        """For people."""
        return f"features of {self.model.id}"

    @property
    def fingerprint(self) -> str:
        """Digest of the model, its transform and the decoding."""
        made = sorted(self.model.provenance.items())
        return digest("features", *self.model.id, made, self.model.transform.fingerprint, decoding_fingerprint())

    def prepare(self, benchmark: Benchmark, tell: Tell) -> Prepared:
        """Features of the images of a benchmark; see :func:`resit.evaluate.features.extract`."""
        found = extract(self.model, benchmark, self.folder, self.settings, tell)
        return Prepared(np.asarray(found.values), found.usable, found.notices)


def trainer_of(spec: str, folder: Path | None = None, options: ModelOptions = DEFAULT) -> Trainer:
    """A trainer from one line of text.

    Parameters
    ----------
    spec : str
        As for :func:`resit.models.training.load.load_trainer`.
    folder : Path, optional
        Gets the features of ``features:MODEL``. Default: a temporary one, which goes with the trainer.
    options : ModelOptions, optional
        For that model.
    """

    def stored(model: FeatureModel) -> StoredFeatures:
        settings = EvaluateSettings(options=options)
        if folder is not None:
            return StoredFeatures(model, folder, settings)
        own = Path(mkdtemp(prefix="resit-features-"))
        found = StoredFeatures(model, own, settings)
        weakref.finalize(found, shutil.rmtree, own, ignore_errors=True)
        return found

    return load_trainer(spec, stored, options)
