import os
from pathlib import Path

import numpy as np
import pytest
import sat

from extras import needs
from resit.data.load import load_predictions
from resit.errors import InputError, UsageError
from resit.evaluate.run import evaluate
from resit.evaluate.settings import SHARD

ray = needs("ray")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")


def same_files(one, other):
    names = sorted(path.name for path in one.glob("*.parquet"))
    return names == sorted(path.name for path in other.glob("*.parquet")) and all(
        (one / name).read_bytes() == (other / name).read_bytes() for name in names
    )


@pytest.fixture(scope="module")
def two_nodes():
    """A real cluster of two nodes on this machine, one core each."""
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = str(Path(sat.__file__).parent)  # what a worker needs to know models given as objects
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    del os.environ["PYTHONPATH"]


def test_local_and_ray_store_the_same_bytes(tmp_path, two_nodes):
    exams = [sat.made(n=3 * SHARD + 20, broken=(7,)), sat.made(n=70, name="other", seed=4)]
    models = [sat.Reader("a"), sat.Reader("b", shift=2, score_kind="logit")]
    evaluate(models, exams, tmp_path / "local")
    evaluate(models, exams, tmp_path / "ray", executor="ray", address=two_nodes.address)
    for exam in exams:
        assert same_files(tmp_path / "local" / exam.name, tmp_path / "ray" / exam.name)


def test_a_node_killed_in_the_middle_loses_and_doubles_nothing(tmp_path, two_nodes):
    exam = sat.made(n=8 * SHARD + 3)
    evaluate([sat.Slow("a")], [exam], tmp_path / "local", batch_size=64)
    extra = two_nodes.add_node(num_cpus=1)
    told = []

    def kill(step):
        told.append(step)
        if len(told) == 3:
            two_nodes.remove_node(extra, allow_graceful=False)

    result = evaluate(
        [sat.Slow("a")], [exam], tmp_path / "ray", executor="ray", address=two_nodes.address, batch_size=64, progress=kill
    )
    assert len(told) > 3
    assert same_files(tmp_path / "local" / "seen", tmp_path / "ray" / "seen")
    assert result.answered[0].n == load_predictions(tmp_path / "ray" / "seen").n == exam.n


def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(tmp_path, two_nodes):
    killed = tmp_path / "killed"
    exam = sat.made(n=2 * SHARD)
    evaluate([sat.Deadly("a", killed=killed)], [exam], tmp_path / "ray", executor="ray", address=two_nodes.address)
    assert killed.exists()
    stored = load_predictions(tmp_path / "ray" / "seen")
    assert np.array_equal(stored.answers[0, :, 0] == exam.labels[:, 0], stored.correct()[0])
    assert stored.correct().mean() > 0.8


def test_what_goes_wrong_in_a_worker_is_said_as_here(tmp_path, two_nodes):
    with pytest.raises(InputError, match="one column for each of its classes"):
        evaluate([sat.Short("a")], [sat.made()], tmp_path, executor="ray", address=two_nodes.address)


def test_no_cluster_at_an_address(tmp_path, two_nodes):
    ray.shutdown()
    with pytest.raises(UsageError, match="no Ray cluster"):
        evaluate([sat.Reader("a")], [sat.made()], tmp_path, executor="ray", address="127.0.0.1:1")
