"""A cross-validation in a process of its own, which a test kills: says how many fits it made, and how many are stored."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import trained_made as made

from resit.models.training.linear import Linear
from resit.models.training.pixels import Pixels
from resit.models.training.protocol import Trainer
from resit.study.hypotheses import cross_validation

fits = []


@dataclass(frozen=True)
class Slow(Linear):
    wait: float = 0.0

    @property
    def fingerprint(self):
        return "slow"

    def fit(self, inputs, labels, n_classes, *, seed, tell):
        fits.append(seed)
        time.sleep(self.wait)
        return super().fit(inputs, labels, n_classes, seed=seed, tell=tell)


if __name__ == "__main__":
    store = Path(sys.argv[1])
    trainer = Trainer(Pixels(made.SIDE), Slow(1e-3, wait=0.5 if sys.argv[2] == "slow" else 0.0))
    sets = made.benchmark("test", 100, 1), made.benchmark("new", 50, 2), made.benchmark("train", 300, 3)
    cross_validation.run(made.material(*sets, trainer=trainer), replace(made.FEW, store=store), made.quiet)
    print(len(fits), len(list((store / "trainings").glob("*.npz"))))
