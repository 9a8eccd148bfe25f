"""A process that writes one step after the other into a store, for tests that kill it or run several at once.

python store_writer.py ADDRESS FIRST LAST: writes the steps, printing ``ready`` before and each step's number when it is stored.
"""

from __future__ import annotations

import sys

from resit.store import open_store
from store_rows import excluded, images, page, pairs, selected, tasks, verdicts

IMAGES = 400
TIME = "2026-01-31T12:00:00Z"


def main(address: str, first: int, last: int) -> None:
    """Write the steps."""
    with open_store(address, create=True) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        for step in range(first, last):
            names = [f"{step}-{n}" for n in range(IMAGES)]
            same = {"class_id": str(step)}
            store.add_images(images(*names, **same))
            store.add_tasks(
                tasks(*({**same, "task": f"t{step}", "image": name, "position": n} for n, name in enumerate(names)))
            )
            store.add_votes(page(f"t{step}", "ann", {name: n % 2 == 0 for n, name in enumerate(names)}, **same))
            store.add_pairs(pairs(*({"image": name, "other": f"reference-{n}"} for n, name in enumerate(names))))
            store.add_verdicts(verdicts(*({**same, "kind": "image", "image": name, "verdict": "right"} for name in names)))
            store.set_assignment(f"t{step}:ann", "accepted", person="eve", reason="", time=TIME)
            store.note("step", {"step": step}, TIME)
            store.add_selection({"step": step}, selected(*({**same, "image": name} for name in names)), excluded(), parent=None)
            print(step, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
