"""What a comparison warns of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resit.data.aliases import suggest_aliases
from resit.data.checks import check
from resit.data.paths import counted, short_list
from resit.data.predictions import Predictions
from resit.errors import Notice
from resit.study.outliers import outlier_notices
from resit.study.overlap import shared_with_original
from resit.study.pairing import Pairing
from resit.study.prepare import check_label_spaces, check_transforms
from resit.study.result import Comparison, Unmatched
from resit.study.settings import Data, Settings
from resit.study.verdict import metric_label

FEWEST = 10


def all_notices(
    sets: Sequence[Data], by_set: Sequence[list[Pairing]], comparisons: Sequence[Comparison], settings: Settings
) -> tuple[Notice, ...]:
    """Everything to warn of, once each: about each set, about each new set's models, about the fits."""
    notices = set_notices(sets, settings)
    for pairings in by_set:
        shared = shared_with_original(pairings[0].original, pairings[0].new)
        notices += [*([shared] if shared else []), *outlier_notices(pairings), *_unmatched_notices(pairings[0])]
    return tuple(dict.fromkeys([*notices, *_fit_notices(comparisons), *_line_notices(sets[0].name, comparisons, notices)]))


def set_notices(sets: Sequence[Data], settings: Settings) -> list[Notice]:
    """What was seen in each set, and what does not agree between the original and the others.

    Raises
    ------
    UsageError
        If models were preprocessed differently on the sets and the user did not allow it.
    """
    original, notices = sets[0], []
    for data in sets:
        notices += [*data.notices, *(check(data) if isinstance(data, Predictions) else ())]
        if data is not original:
            notices += check_transforms(original, data, settings.allow_different_transforms)
            notices += check_label_spaces(original, data)
    return notices


def unmatched(pairing: Pairing) -> Unmatched:
    """Models that are on one of the two sets only, and pairs of them that look like one model."""
    old, new = pairing.original.models_with(pairing.metric), pairing.new.models_with(pairing.metric)
    old_only, new_only = sorted(map(str, old - new)), sorted(map(str, new - old))
    suggested = suggest_aliases([m.model for m in sorted(old - new)], [m.model for m in sorted(new - old)])
    return Unmatched(tuple(old_only), tuple(new_only), suggested)


def _unmatched_notices(pairing: Pairing) -> list[Notice]:
    found = unmatched(pairing)
    count = len(found.original_only) + len(found.new_only)
    if not count:
        return []
    shown = [f"{name} only on {pairing.original.name}" for name in found.original_only[:5]]
    shown += [f"{name} only on {pairing.new.name}" for name in found.new_only[:5]]
    more = f", and {count - len(shown)} more" if count > len(shown) else ""
    mend = f" If they are one model, repair with {' '.join(f'--alias {name}' for name in found.suggested_aliases)}."
    message = f"left out, as they are on one set only: {', '.join(shown)}{more}.{mend if found.suggested_aliases else ''}"
    return [Notice("unmatched-models", f"{pairing.original.name} and {pairing.new.name}", message)]


def _line_notices(original: str, comparisons: Sequence[Comparison], seen: Sequence[Notice]) -> Iterator[Notice]:
    """Lines that a few models decide: of fewer than ten, or of some near chance; each told once for all sets and metrics.

    The mean leverage of a model on a line over M models is 2 / M, and leverage above 0.2 is risky (Huber 1981, Robust
    Statistics, section 7.2): so it is for the average model where M is under ten.
    """
    told: dict[tuple[str, str], list[str]] = {}
    at_chance = {notice.where for notice in seen if notice.code == "near-chance"}
    for comparison in comparisons:
        fit = comparison.fits["linear"]
        if fit.slope.estimate is None:
            continue
        where = f"{comparison.new.name}, {metric_label(comparison.metric)}"
        if fit.n_models < FEWEST:
            message = (
                f"the line is over {fit.n_models} models, so that one model can turn it: below {FEWEST} take the slope, R² and "
                "their intervals for a description of these models, not of others."
            )
            told.setdefault(("few-models", message), []).append(where)
        names = (original, comparison.new.name)
        line = [row.key for row in comparison.models if row.baseline]
        low = [key for key in line if at_chance & {f"{key}@{name}" for name in names}]
        if low:
            message = (
                f"{len(low)} of the {fit.n_models} models of the line guess (see near-chance), and the floor bends it: "
                f"{short_list(low)}. Leave them out (--exclude), or out of the line (--baseline)."
            )
            told.setdefault(("line-at-chance", message), []).append(where)
    for (code, message), places in told.items():
        yield Notice(code, "; ".join(places), message)


def _fit_notices(comparisons: Sequence[Comparison]) -> list[Notice]:
    notices = []
    for comparison in comparisons:
        where = f"{comparison.new.name}, {metric_label(comparison.metric)}"
        fit = comparison.fits_all["logit"]
        if fit.adjusted:
            message = (
                f"{counted(fit.adjusted, 'model scores', 'models score')} exactly 0 or 1; on probit and logit moved inward by "
                "half an example."
            )
            notices.append(Notice("accuracy-0-or-1", where, message))
        if fit.left_out:
            message = (
                f"on probit and logit these are left out, as they score exactly 0 or 1 and the number of examples is not known "
                f"(tell it with --n): {', '.join(fit.left_out)}."
            )
            notices.append(Notice("left-out-of-fit", where, message))
        lost = [own for own in comparison.fits["linear"].intervals if own.slope.low is None and own.slope.reason]
        if lost:
            message = (
                f"{lost[0].slope.reason}, so there is none over {', '.join(own.unit for own in lost)}. Compare more models."
            )
            notices.append(Notice("no-interval", where, message))
    return notices
