import numpy as np
import pytest
import sat
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from resit.errors import InputError
from resit.evaluate.answers import Asker, best
from resit.models.protocol import OutOfMemory


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=st.integers(-3, 3)), st.data())
def test_the_best_are_those_of_a_stable_sort(scores, data):
    k = data.draw(st.integers(1, scores.shape[1]))
    assert best(scores, k).tolist() == np.argsort(-scores, axis=1, kind="stable")[:, :k].tolist()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_case_21_scores_that_are_not_finite_give_no_answer(odd):
    assert best(np.array([[0, 2, odd], [0, 2, 1]], np.float32), 2).tolist() == [[-1, -1], [1, 2]]


def asker(model, **rest):
    columns = np.arange(len(model.classes))
    return Asker(model, columns, columns.astype(np.int32), k=2, **{"batch_size": 8, **rest})


def batch(n):
    pixels = np.random.default_rng(1).integers(0, 255, (n, 8, 8, 3)).astype(np.float32)
    pixels[:, 0, 0, 0] = np.arange(n) % 7
    return pixels


def test_a_batch_that_is_too_large_is_halved_for_good():
    model = sat.Reader(most=3)
    found = asker(model)
    assert found.answers(batch(8)).top[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 0]
    assert model.sizes == [2, 2, 2, 2]
    assert found.answers(batch(5)).top[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert model.sizes[4:] == [2, 2, 1]


def test_where_not_even_one_fits_the_run_ends():
    with pytest.raises(OutOfMemory):
        asker(sat.Reader(most=0)).answers(batch(4))


def test_scores_of_another_shape_are_refused():
    class Short(sat.Reader):
        def scores(self, batch):
            return super().scores(batch)[:, :5]

    with pytest.raises(InputError, match="one column for each of its classes"):
        asker(Short()).answers(batch(4))
