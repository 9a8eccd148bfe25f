"""Neighbours searched on a cluster are those searched here, to the last bit."""

from __future__ import annotations

import pyarrow as pa
import pytest
from duplicates_made import made, pictures

from extras import needs
from resit import UsageError
from resit.build.duplicates import shards
from resit.build.duplicates.find import find_pairs

ray = needs("ray")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
METRICS = ("l2", "correlation", "shifted", "dssim", "relative")


def test_shards_on_a_cluster_give_the_same_lists(monkeypatch):
    pool = made(60)
    ids = [f"c{place:02}" for place in range(40)]
    references = {"r": pictures(pool[40:], [f"r{place:02}" for place in range(20)])}
    monkeypatch.setattr(shards, "MOST_SHARD", 7 * 32 * 32 * 3)

    def lists(upto: int, **more: object) -> pa.Table:
        return pa.concat_tables(
            find_pairs(pictures(pool[:upto], ids[:upto]), references, metrics=METRICS, neighbours=5, **more)
        )

    old = lists(25)
    assert lists(25, cluster="local").equals(old)
    assert lists(40, cluster="local", stored=old).equals(lists(40, stored=old))


def test_no_cluster_at_an_address():
    with pytest.raises(UsageError, match="no Ray cluster"):
        list(find_pairs(pictures(made(2), ["a", "b"]), {}, cluster="127.0.0.1:1"))
