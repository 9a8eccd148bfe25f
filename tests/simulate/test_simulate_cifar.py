"""The story of the tutorial on real images: a new test set for CIFAR-10, from candidates to the exam."""

from __future__ import annotations

from pathlib import Path

import pytest

import resit
from extras import needs
from resit.simulate.parts import given_parts
from resit.simulate.people import Crowd
from resit.simulate.run import People, simulate

for package in ("sklearn", "sqlalchemy", "httpx", "skops", "datasets"):
    needs(package)


@pytest.mark.slow
def test_a_new_test_set_for_cifar_10(shared_data: Path, tmp_path: Path):
    import datasets

    folder = shared_data / "cifar10"
    parts = given_parts(
        str(folder / "test.parquet"),
        str(folder / "train-5-of-5.parquet"),
        [str(folder / "train-[1-4]*.parquet")],
        classes="cifar-10",
        most=3_000,
    )
    counts = str(folder / "cifar10h_counts.npy")
    people = People(Crowd(spam=0.05))
    done = simulate(parts, tmp_path / "cifar", per_class=60, people=people, counts=counts)
    assert done.converged
    assert done.rounds[-1].drawn.valid
    assert done.rejected == 5
    assert done.missed["wrong labels"] <= 5
    assert done.missed["copies of originals and training images"] <= 5
    assert done.released is not None
    new = resit.load_benchmark(done.released.folder)
    assert (new.n, new.n_classes) == (600, 10)
    data = {"test": str(done.released.folder / "data" / "test.parquet")}
    rows = datasets.load_dataset("parquet", data_files=data, split="test", cache_dir=str(tmp_path / "cache"))
    assert rows["id"][:] == [str(name) for name in new.ids if new.ids is not None]
    assert done.result is not None
    top1 = next(one for one in done.result.comparisons if one.metric == "top1")
    assert top1.n_models == 12
    # All images are of one collection: no model should find the new ones harder, within the noise of 600.
    assert abs(top1.mean_change) < 0.04
    assert top1.spearman is not None
    assert top1.spearman > 0.9
