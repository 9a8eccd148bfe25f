"""How sure models are of their answers is stored where they say what their scores are, and only there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
import pytest
import sat
from scipy import special
from test_evaluate import bytes_of

from resit.data.load import load_predictions
from resit.errors import InputError, UsageError
from resit.evaluate.answers import Asker
from resit.evaluate.run import evaluate
from resit.evaluate.settings import SHARD
from resit.models.fake import FakeModel
from resit.models.head_file import WithHead
from resit.models.protocol import Model, score_kind_of
from resit.models.renamed import renamed
from resit.models.torch_model import TorchModel


@dataclass
class Logits(sat.Reader):
    """Says that its scores are logits."""

    score_kind: str | None = "logit"


@dataclass
class Probabilities(sat.Reader):
    """Gives probabilities, and says so."""

    score_kind: str | None = "probability"

    def scores(self, batch):
        return special.softmax(super().scores(batch), axis=1)


@dataclass
class Softmaxed(Probabilities):
    """Gives probabilities, and calls them logits, as a torch module that ends in a softmax."""

    score_kind: str | None = "logit"


def batch(n=5):
    pixels = np.random.default_rng(1).integers(0, 255, (n, 8, 8, 3)).astype(np.float32)
    pixels[:, 0, 0, 0] = np.arange(n) % 7
    return pixels


def told(model, columns=range(7), given=None):
    columns = np.array(columns)
    return Asker(model, columns, columns.astype(np.int32), k=2, batch_size=3).answers(batch() if given is None else given)


@pytest.mark.parametrize("kind", [Logits, Probabilities, Softmaxed])
@pytest.mark.parametrize("columns", [range(7), [0, 2, 3], [6, 1]])
def test_it_is_the_largest_probability_over_the_classes_that_count(kind, columns):
    by_hand = special.softmax(sat.Reader().scores(batch())[:, list(columns)], axis=1).max(axis=1)
    found = told(kind(), columns)
    assert found.confidence.dtype == np.float32
    assert found.confidence == pytest.approx(by_hand, abs=1e-6)


def test_a_model_that_does_not_say_has_none():
    assert told(sat.Reader()).confidence is None


def test_scores_that_are_not_finite_have_none():
    class Odd(Logits):
        def scores(self, batch):
            scores = super().scores(batch)
            scores[0, 1] = np.nan
            return scores

    found = told(Odd())
    assert np.isnan(found.confidence).tolist() == [True, False, False, True, False]  # the first of each batch of three
    assert (found.top[:, 0] < 0).tolist() == np.isnan(found.confidence).tolist()


@pytest.mark.parametrize("scale", [2.0, -1.0])
def test_probabilities_that_are_none_are_refused(scale):
    class Wrong(Probabilities):
        def scores(self, batch):
            return super().scores(batch) * scale

    with pytest.raises(InputError, match="calls probabilities"):
        told(Wrong())


def test_another_kind_is_refused():
    with pytest.raises(UsageError, match=r"'margin'.*logit or probability"):
        told(sat.Reader(score_kind="margin"))


def test_it_is_stored_with_the_answers_and_nothing_is_without(tmp_path):
    exam = sat.made(n=SHARD + 40, broken=(3, SHARD + 1))
    evaluate([Logits("a"), sat.Reader("b")], [exam], tmp_path)
    assert "confidence" in pq.read_schema(tmp_path / "seen" / "a.parquet").names
    assert "confidence" not in pq.read_schema(tmp_path / "seen" / "b.parquet").names
    found = load_predictions(tmp_path / "seen")
    assert np.flatnonzero(np.isnan(found.confidence[0])).tolist() == [3, SHARD + 1]
    assert np.isnan(found.confidence[1]).all()
    assert np.array_equal(found.answers[0], found.answers[1])


def test_case_34_an_interrupted_run_ends_in_the_same_bytes(tmp_path):
    exam = sat.made(n=2 * SHARD + 10)
    evaluate([Logits("a")], [exam], tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        evaluate([Logits("a", fail_at=SHARD + 40)], [exam], tmp_path / "broken")
    again = Logits("a")
    evaluate([again], [exam], tmp_path / "broken")
    assert again.asked == SHARD + 10
    assert bytes_of(tmp_path / "broken" / "seen") == bytes_of(tmp_path / "whole" / "seen")


def test_shards_of_a_version_that_did_not_store_it_are_asked_again(tmp_path):
    exam = sat.made(n=2 * SHARD)
    with pytest.raises(KeyboardInterrupt):
        evaluate([sat.Reader("a", fail_at=SHARD + 1)], [exam], tmp_path)
    model = Logits("a")
    evaluate([model], [exam], tmp_path)
    assert model.asked == exam.n
    assert np.isfinite(load_predictions(tmp_path / "seen").confidence).all()


def test_answers_of_an_earlier_version_stay_unless_they_are_to_be_overwritten(tmp_path):
    exam = sat.made()
    evaluate([sat.Reader("a")], [exam], tmp_path)
    before = bytes_of(tmp_path / "seen")
    model = Logits("a")
    evaluate([model], [exam], tmp_path)
    assert model.asked == 0
    assert bytes_of(tmp_path / "seen") == before
    evaluate([model], [exam], tmp_path, overwrite=True)
    assert model.asked == exam.n
    assert np.isfinite(load_predictions(tmp_path / "seen").confidence).all()
    evaluate([model], [exam], tmp_path, overwrite=True)
    assert model.asked == exam.n


def test_what_models_say_of_themselves():
    assert score_kind_of(FakeModel("f")) is None
    for kind in ("logit", "probability"):
        model = FakeModel("f", score_kind=kind)
        assert isinstance(model, Model)
        assert score_kind_of(renamed(model, "g")) == kind
        sums = model.scores(batch()).sum(axis=1)
        assert np.allclose(sums, 1) == (kind == "probability")
    assert TorchModel.score_kind == WithHead.score_kind == "logit"
    with pytest.raises(UsageError, match="score_kind"):
        FakeModel("f", score_kind="odds")
