"""The names that people give to columns, and which column of a table plays which role."""

from __future__ import annotations

import re
from collections.abc import Sequence

from resit.errors import InputError

ROLES: dict[str, tuple[str, ...]] = {
    "id": (
        *("id", "ids", "image_id", "example_id", "image", "example", "uid", "key", "img"),
        *("filename", "file_name", "file", "file_path", "filepath", "path"),
    ),
    "label": (
        *("label", "labels", "accepted", "accepted_labels", "target", "targets", "true_label", "y_true"),
        *("ground_truth", "gt", "class", "class_id", "1k_index", "wnid"),
    ),
    "prediction": (
        *("prediction", "predictions", "pred", "preds", "predicted", "predicted_class", "predicted_label"),
        *("y_pred", "answer", "answers", "output"),
    ),
    "correct": ("correct", "is_correct", "right"),
    "rank": ("rank", "position"),
    "confidence": ("confidence", "conf"),
    "model": (
        "model",
        "models",
        "model_name",
        "architecture",
        "arch",
        "network",
        "classifier",
        "method",
        "name",
        "",
        "unnamed:_0",
    ),
    "variant": ("variant", "img_size", "image_size", "input_size", "resolution"),
    "test_set": ("test_set", "testset", "dataset", "benchmark", "eval_set", "set"),
}
ENDS_CORRECT = re.compile(r"(?!.*not_correct)(?:.*[_.])?(?:correct|correctness)")
RANKED = re.compile(r"(?:top|pred|prediction|answer|class|rank)[_@]?(\d+)")


def plain(name: str) -> str:
    """A column name in lower case with underscores."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def find_column(columns: Sequence[str], role: str) -> str | None:
    """The column that plays a role, by the first of the role's known names that is there."""
    by_plain = {plain(column): column for column in reversed(columns)}
    return next((by_plain[name] for name in ROLES[role] if name in by_plain), None)


def is_truth(name: str) -> bool:
    """Whether a column or file is called as one of right and wrong."""
    return plain(name) in ROLES["correct"]


def says_correct(name: str) -> bool:
    """Whether the name of a file or folder ends with a word for right and wrong: ``correct``, ``resnet50_correct``."""
    return ENDS_CORRECT.fullmatch(plain(name)) is not None


def answer_columns(columns: Sequence[str], source: str) -> list[str]:
    """Columns that hold one model's answers, best first: ``pred``, or ``pred_1`` … ``pred_5``, or ``top1`` … ``top5``.

    Raises
    ------
    InputError
        If ranks are missing or are there twice.
    """
    single = find_column(columns, "prediction")
    if single is not None:
        return [single]
    ranked = sorted((int(match[1]), column) for column in columns if (match := RANKED.fullmatch(plain(column))))
    ranks = [rank for rank, _ in ranked]
    if ranks and ranks != list(range(ranks[0], ranks[0] + len(ranks))):
        raise InputError(
            f"answer columns {', '.join(column for _, column in ranked)} skip or repeat a rank",
            where=source,
            fix="Name them top1, top2, … without a gap.",
        )
    return [column for _, column in ranked]
