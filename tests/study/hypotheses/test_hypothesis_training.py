from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import trained_made as made

import featured
from extras import needs
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.image_sources.arrays import ArrayImages
from resit.errors import UsageError
from resit.models.training.diverged import Diverged
from resit.models.training.linear import Linear
from resit.models.training.pixels import Pixels
from resit.models.training.protocol import Trainer
from resit.stats.intervals import newcombe
from resit.stats.newcombe_p import newcombe_p
from resit.study.folds import Examples, Job, run_jobs
from resit.study.hypotheses import cross_validation, discriminator, hyperparameters, train_on_part
from resit.study.hypotheses.interface import Rules
from resit.study.training import trainer_of

needs("sklearn")
FOUR = (cross_validation, discriminator, train_on_part, hyperparameters)


def run(module, material, rules=made.FEW):
    assert not module.HYPOTHESIS.lacks(material)
    return module.HYPOTHESIS.run(material, rules, made.quiet)


def codes(gathered):
    return {one.code for one in gathered.warnings}


def figure(gathered, start):
    (found,) = [one for one in gathered.figures if one.name.startswith(start)]
    return found.value


def test_cross_validation_of_one_distribution_finds_nothing():
    sets = made.benchmark("test", 200, 1), made.benchmark("new", 50, 2), made.benchmark("train", 600, 3)
    found = run(cross_validation, made.material(*sets))
    assert found.effect is False
    assert found.part.low < 0 < found.part.high
    assert not found.warnings
    assert len(found.sheets[0].rows) == 4
    assert "No fold differs" in found.verdict


def test_cross_validation_finds_a_test_set_that_is_easier():
    easy = made.benchmark("test", 200, 1, made.Kind(apart=40))
    found = run(
        cross_validation, made.material(easy, made.benchmark("new", 50, 2), made.benchmark("train", 600, 3, made.Kind(apart=3)))
    )
    assert found.effect is True
    assert found.part.low > 0.1
    assert "Differ from the original test: fold 1, fold 2, fold 3" in found.verdict
    assert f"{100 * found.part.estimate:.2f} points" in found.verdict
    assert found.verdict.endswith("easier than the folds.")


def test_cross_validation_tells_a_test_set_that_is_harder_as_such():
    hard = made.benchmark("test", 200, 1, made.Kind(apart=3))
    found = run(
        cross_validation,
        made.material(hard, made.benchmark("new", 50, 2), made.benchmark("train", 600, 3, made.Kind(apart=40))),
    )
    assert found.part.high < -0.1
    assert f"{-100 * found.part.estimate:.2f} points [{-100 * found.part.high:.2f}, " in found.verdict
    assert found.verdict.endswith("harder than the folds.")


def test_every_example_is_tested_once_and_never_trained_on_in_its_fold(monkeypatch):
    seen = []

    def spy(examples, jobs, *more, **rest):
        seen.extend(jobs)
        return run_jobs(examples, jobs, *more, **rest)

    monkeypatch.setattr("resit.study.hypotheses.trainings.run_jobs", spy)
    run(
        cross_validation,
        made.material(made.benchmark("test", 90, 1), made.benchmark("new", 50, 2), made.benchmark("train", 300, 3)),
    )
    first = seen[::2]
    assert sorted(np.concatenate([job.test for job in first]).tolist()) == list(range(390))
    assert all(not set(job.test) & set(job.train) for job in seen)
    assert {len(job.train) for job in seen} == {390 - 100}
    labels = np.concatenate([made.benchmark("test", 90, 1).labels[:, 0], made.benchmark("train", 300, 3).labels[:, 0]])
    for job in seen:
        assert np.ptp(np.bincount(labels[job.train])) <= 3  # the test's own classes are 23, 23, 22, 22
        assert np.ptp(np.bincount(labels[job.test])) <= 1


@pytest.mark.parametrize("n", [400, 120])
def test_a_discriminator_of_one_distribution_finds_nothing(n):
    found = run(discriminator, made.material(made.benchmark("test", n, 1), made.benchmark("new", n, 2)))
    assert found.effect is False
    assert figure(found, "accuracy").low < 0.5 < figure(found, "accuracy").high
    assert found.part is None


def test_a_discriminator_finds_brighter_images():
    found = run(
        discriminator, made.material(made.benchmark("test", 400, 1), made.benchmark("new", 200, 2, made.Kind(shift=10)))
    )
    assert found.effect is True
    assert figure(found, "accuracy").low > 0.7
    assert found.figures[0].n == 100 * 2  # one half of 200 pairs


def test_a_discriminator_of_other_class_shares_alone_finds_nothing():
    """Classes are matched: nine in ten of the new images are of one class, which alone would give it away."""
    new = made.benchmark("new", 2_000, 2, made.Kind(apart=40))
    label = new.labels[:, 0]
    kept = np.flatnonzero((label == 0) | (np.arange(2_000) % 10 == 0))
    found = run(discriminator, made.material(made.benchmark("test", 400, 1, made.Kind(apart=40)), made.part(new, kept)))
    assert found.effect is False


def test_a_discriminator_of_a_set_and_itself_is_below_chance_and_says_why():
    one = made.benchmark("test", 200, 1)
    exact = Trainer(Pixels(made.SIDE), Linear(1.0))
    found = run(discriminator, made.material(one, made.part(one, np.arange(200)), trainer=exact))
    assert found.effect is False
    assert figure(found, "accuracy").high < 0.5
    assert "below-chance" in codes(found)


def test_training_on_part_of_new_images_like_the_others_changes_little():
    sets = made.benchmark("test", 100, 1), made.benchmark("new", 200, 2), made.benchmark("train", 800, 3)
    found = run(train_on_part, made.material(*sets))
    assert found.effect is False
    assert abs(found.part.estimate) < 0.05


def test_training_on_part_of_a_new_set_that_is_labelled_otherwise_helps():
    new = made.benchmark("new", 800, 2, made.Kind(apart=25, labels_wrong=1.0))
    found = run(train_on_part, made.material(made.benchmark("test", 100, 1), new, made.benchmark("train", 200, 3)))
    assert found.effect is True
    assert found.part.low > 0.2
    assert figure(found, "gain on the original").estimate < 0


def test_gain_of_one_pair_is_that_of_the_counts():
    right = np.zeros((1, 2, 10), bool)
    right[0, 0, :4] = True
    right[0, 1, 2:9] = True
    found = train_on_part.gain(right, 0.95)
    assert found.estimate == pytest.approx(0.3)
    assert found.low < 0.3 < found.high


def test_a_grid_is_trained_and_compared():
    trainer = Trainer(Pixels(made.SIDE), Linear())
    sets = made.benchmark("test", 200, 1), made.benchmark("new", 200, 2), made.benchmark("train", 200, 3)
    found = run(hyperparameters, made.material(*sets, trainer=trainer))
    assert len(found.sheets[0].rows) == len(trainer.fitter.grid())
    assert found.effect is False
    assert found.kind == "bound"
    assert found.part.estimate >= 0


def answers_of(right):
    """Predictions that are right where a matrix says so."""
    labels = np.zeros((right.shape[1], 1), np.int32)
    names = tuple(made.ModelId(f"m{at}") for at in range(len(right)))
    benchmark = Benchmark("made", labels, classes=(ClassInfo("0", "a"), ClassInfo("1", "b")))
    return made.Predictions(benchmark, names, (~right)[:, :, None].astype(np.int16))


def test_without_training_the_given_models_are_compared_and_a_tuned_one_is_found():
    rng = np.random.default_rng(0)
    honest = np.array([0.6, 0.65, 0.7, 0.75])
    old = rng.random((5, 1000)) < np.append(honest, 0.9)[:, None]
    new = rng.random((5, 1000)) < np.append(honest, 0.5)[:, None]
    found = run(hyperparameters, made.Material(answers_of(old), answers_of(new)))
    assert found.effect is True
    assert figure(found, "regret").estimate == pytest.approx((new.sum(axis=1).max() - new[4].sum()) / 1000)
    assert "m4" in found.verdict
    honest_only = run(hyperparameters, made.Material(answers_of(old[:4]), answers_of(new[:4])))
    assert honest_only.effect is False
    slope = np.polyfit(old[:4].mean(axis=1), new[:4].mean(axis=1), 1)[0]
    assert figure(honest_only, "slope").estimate == pytest.approx(slope)
    assert figure(honest_only, "correlation").estimate == pytest.approx(np.corrcoef(old[:4].mean(1), new[:4].mean(1))[0, 1])


def test_models_that_are_all_alike_have_no_line():
    right = np.tile(np.arange(40) % 2 == 0, (3, 1))
    found = run(hyperparameters, made.Material(answers_of(right), answers_of(right)))
    assert found.effect is False
    assert figure(found, "slope").reason


def test_what_is_lacking_is_said():
    bare = made.material(Benchmark("a", np.zeros((4, 1), np.int32)), Benchmark("b", np.zeros((4, 1), np.int32)), trainer=None)
    assert len(cross_validation.HYPOTHESIS.lacks(bare)) == 3
    assert len(discriminator.HYPOTHESIS.lacks(bare)) == 3
    assert len(train_on_part.HYPOTHESIS.lacks(bare)) == 4
    assert hyperparameters.HYPOTHESIS.lacks(bare)


def test_one_image_a_class_gives_no_answer_and_no_crash():
    sets = [made.benchmark(name, made.CLASSES, seed) for seed, name in enumerate(("test", "new", "train"))]
    for module in (cross_validation, discriminator, train_on_part):
        found = run(module, made.material(*sets))
        assert (found.effect, found.part, codes(found)) == (None, None, {"too-few"})


def with_ids(one, ids):
    return replace(one, classes=tuple(ClassInfo(name, name) for name in ids))


def test_sets_without_shared_classes_give_no_answer():
    test = with_ids(made.benchmark("test", 100, 1), "abcd")
    other = with_ids(made.benchmark("new", 100, 2), "efgh")
    train = with_ids(made.benchmark("train", 100, 3), "abcd")
    assert "too-few" in codes(run(discriminator, made.material(test, other)))
    assert "too-few" in codes(run(train_on_part, made.material(test, other, train)))


def test_classes_are_matched_by_id_and_those_of_one_set_alone_are_left_out():
    test = with_ids(made.benchmark("test", 400, 1), "abcd")
    new = with_ids(made.benchmark("new", 400, 2), "dcbe")
    found = run(discriminator, made.material(test, new))
    assert {"left-out", "classes-not-shared"} <= codes(found)
    assert found.figures[0].n == 300  # three classes, 100 pairs each, one half


def test_constant_images_are_told_and_nothing_is_averaged():
    def flat(name, n):
        return Benchmark(
            name, (np.arange(n) % 4)[:, None].astype(np.int32), images=ArrayImages(np.full((n, 8, 8, 3), 7, np.uint8))
        )

    material = made.material(flat("test", 100), flat("new", 100), flat("train", 300))
    found = run(cross_validation, material)
    assert found.effect is None
    assert {"constant-inputs", "diverged"} <= codes(found)
    assert "better than guessing" in " ".join(one.message for one in found.warnings)
    seen = run(discriminator, material)
    assert seen.effect is False
    assert "constant-inputs" in codes(seen)


def test_an_image_that_cannot_be_read_is_left_out_and_told():
    class Broken(ArrayImages):
        def __getitem__(self, index):
            if index == 3:
                raise OSError("torn")
            return super().__getitem__(index)

    one = made.benchmark("test", 200, 1)
    broken = replace(one, images=Broken(np.stack([one.images[row] for row in range(200)])))
    found = run(discriminator, made.material(broken, made.benchmark("new", 200, 2)))
    assert "unreadable-images" in codes(found)
    assert found.effect is False


@dataclass(frozen=True)
class Fragile:
    """Goes wrong in every second training; counts its fits."""

    counted: tuple = ()
    name: str = "fragile"
    fingerprint: str = "fragile"
    cpus: int = 1
    gpus: int = 0
    wrong: bool = True

    def seconds(self, _rows):
        return 0.0

    def grid(self):
        return ()

    def fit(self, inputs, labels, n_classes, *, seed, tell):
        if self.counted:
            self.counted[0].append(seed)
        if self.wrong and seed % 2:
            raise Diverged("the loss is nan", where="fragile")
        return Linear(1e-3).fit(inputs, labels, n_classes, seed=seed, tell=tell)


def test_a_training_that_diverges_is_told_and_not_averaged_in(monkeypatch):
    monkeypatch.setattr("resit.study.hypotheses.cross_validation.seeds_of", lambda _: [2, 3])
    sets = made.benchmark("test", 200, 1), made.benchmark("new", 50, 2), made.benchmark("train", 600, 3)
    half = run(cross_validation, made.material(*sets, trainer=Trainer(Pixels(made.SIDE), Fragile())))
    monkeypatch.setattr("resit.study.hypotheses.cross_validation.seeds_of", lambda _: [2])
    whole = run(cross_validation, made.material(*sets))
    assert sum(one.code == "diverged" for one in half.warnings) == 4
    assert half.part == whole.part
    assert figure(half, "spread").estimate is None


def test_finished_trainings_are_not_done_again_and_a_damaged_one_is(tmp_path):
    fits = []
    trainer = Trainer(Pixels(made.SIDE), Fragile((fits,), wrong=False))
    sets = made.benchmark("test", 100, 1), made.benchmark("new", 50, 2), made.benchmark("train", 300, 3)
    rules = replace(made.FEW, store=tmp_path)
    first = run(cross_validation, made.material(*sets, trainer=trainer), rules)
    assert len(fits) == 8
    assert run(cross_validation, made.material(*sets, trainer=trainer), rules) == first
    assert len(fits) == 8
    files = sorted((tmp_path / "trainings").iterdir())
    files[0].write_bytes(files[0].read_bytes()[:40])
    files[1].unlink()
    assert run(cross_validation, made.material(*sets, trainer=trainer), rules) == first
    assert len(fits) == 10
    run(cross_validation, made.material(*sets, trainer=trainer), replace(rules, seed=1))
    assert len(fits) == 18


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
def test_ray_gives_the_same_as_this_process(tmp_path):
    ray = needs("ray")
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        sets = made.benchmark("test", 100, 1), made.benchmark("new", 50, 2), made.benchmark("train", 300, 3)
        rules = replace(made.FEW, store=tmp_path, executor="ray")
        assert run(cross_validation, made.material(*sets), rules) == run(cross_validation, made.material(*sets))
        assert len(list((tmp_path / "trainings").glob("*.npz"))) == 8
        examples = Examples(np.zeros((4, 2), np.float32), np.zeros(4, np.int64), 2, "one class")
        job = Job(Linear(1e-3), np.arange(4), np.arange(4), 0)
        with pytest.raises(UsageError, match="1 classes"):
            run_jobs(examples, [job], made.quiet, executor="ray")
    finally:
        ray.shutdown()


def test_features_of_a_model_are_computed_once_and_trained_on(tmp_path, monkeypatch):
    old, model = featured.exam(300, 3)
    new, train = featured.exam(300, 3, seed=1, name="new")[0], featured.exam(300, 3, seed=2, name="train")[0]
    monkeypatch.setattr("resit.models.training.load.load_model", lambda _spec, _options: model)
    trainer = trainer_of("features:any", tmp_path)
    assert trainer.name == "linear head on features of pixels"
    material = made.material(old, new, train, trainer=trainer)
    found = run(cross_validation, material)
    assert found.effect is False
    asked = model.asked
    assert run(cross_validation, material) == found
    assert model.asked == asked
    assert trainer.source.fingerprint == trainer_of("features:any").source.fingerprint


def test_an_executor_that_is_none_is_refused():
    with pytest.raises(UsageError, match="no executor"):
        run_jobs(Examples(np.zeros((1, 1)), np.zeros(1, np.int64), 2, ""), [], made.quiet, executor="abacus")


@pytest.mark.parametrize(("right", "size"), [((80, 75), (100, 100)), ((930, 9_000), (1_000, 10_000)), ((50.5, 60), (100, 100))])
def test_a_p_value_is_where_the_interval_touches_zero(right, size):
    p = float(newcombe_p(right[0], size[0], right[1], size[1]))
    inside, outside = (newcombe(right[0], size[0], right[1], size[1], 1 - p * by) for by in (0.999, 1.001))
    assert inside.low < 0 < inside.high
    assert not outside.low < 0 < outside.high


def test_p_values_of_the_same_and_of_opposite_sets():
    assert float(newcombe_p(50, 100, 50, 100)) == pytest.approx(1)
    assert float(newcombe_p(0, 100, 100, 100)) < 1e-12
    assert np.isnan(newcombe_p(0, 0, 1, 2))


@pytest.mark.slow
def test_size_and_power_of_the_discriminator_and_of_cross_validation():
    """Where nothing is to be found it is found in about 5 % of runs at most; planted effects nearly always."""
    runs = 200
    found = {"discriminator": [0, 0], "cross-validation": [0, 0]}
    for seed in range(runs):
        test, new = made.benchmark("test", 160, 3 * seed), made.benchmark("new", 160, 3 * seed + 1)
        train = made.benchmark("train", 480, 3 * seed + 2)
        shifted = made.benchmark("new", 160, 3 * seed + 1, made.Kind(shift=6))
        wrong = made.benchmark("test", 160, 3 * seed, made.Kind(labels_wrong=0.3))
        rules = Rules(folds=4, seeds=1, seed=seed)
        pairs = (
            ("discriminator", discriminator, made.material(test, new), made.material(test, shifted)),
            ("cross-validation", cross_validation, made.material(test, new, train), made.material(wrong, new, train)),
        )
        for name, module, control, planted in pairs:
            found[name][0] += bool(run(module, control, rules).effect)
            found[name][1] += bool(run(module, planted, rules).effect)
    print(found)
    for control, planted in found.values():
        assert control <= 0.05 * runs + 3 * np.sqrt(runs * 0.05 * 0.95)
        assert planted >= 0.8 * runs
