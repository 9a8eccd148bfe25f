"""From what was loaded to what is compared: the repairs that the user asked for, and what must agree between the sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resit.data.accuracies import Accuracies
from resit.data.label_spaces import differ
from resit.data.paths import counted
from resit.data.predictions import Predictions
from resit.data.repairs import pick, rename, reverse_answers
from resit.errors import Notice, UsageError
from resit.study.result import Repair
from resit.study.settings import Data

TRANSFORM = "transform_fingerprint"


def require_sets(sets: Sequence[object]) -> list[Data]:
    """The sets, once it is sure that they are an original and at least one new one, under names of their own."""
    for item in sets:
        if not isinstance(item, Predictions | Accuracies):
            raise UsageError(
                f"compare takes Predictions or Accuracies, not {type(item).__name__}",
                where=repr(item)[:80],
                fix="Read it first: resit.load(path)",
            )
    found = [item for item in sets if isinstance(item, Predictions | Accuracies)]
    if len(found) < 2:
        raise UsageError("an original and at least one new test set are needed", fix="resit compare ORIGINAL NEW [NEW ...]")
    names = [item.name for item in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"two sets are called {', '.join(twice)}", fix="Give each its own name (--name, once for each path)")
    return found


def repair(
    sets: Sequence[Data],
    *,
    alias: Mapping[str, str],
    worst_first: Sequence[str],
    models: Sequence[str],
    exclude: Sequence[str],
) -> tuple[list[Data], tuple[Repair, ...]]:
    """Apply aliases, put worst-first answers in order, and choose models; say what each did.

    Raises
    ------
    UsageError
        If a repair names a model or set that is nowhere.
    """
    done: list[Repair] = []
    current = list(sets)
    for old, new in alias.items():
        current = _alias(current, old, new, done)
    for target in worst_first:
        current = _reverse(current, target, done)
    for kind, globs in (("models", models), ("exclude", exclude)):
        for glob in globs:
            matched = {str(m) for data in current for m in data.models if m.fits(glob)}
            if not matched:
                raise UsageError(f"no model of any set fits {glob!r}", where=f"--{kind}", fix=_some_models(current))
            done.append(Repair(kind, glob, f"{'keeps' if kind == 'models' else 'leaves out'} {counted(len(matched), 'model')}"))
    return [_choose(data, models, exclude) for data in current], tuple(done)


def _some_models(sets: Sequence[Data]) -> str:
    names = sorted({model.model for data in sets for model in data.models})
    return f"There are {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"


def _alias(sets: list[Data], old: str, new: str, done: list[Repair]) -> list[Data]:
    has = [any(model.model == old for model in data.models) for data in sets]
    if not any(has):
        raise UsageError(f"no set has a model {old!r}", where=f"--alias {old}={new}", fix=_some_models(sets))
    on = ", ".join(data.name for data, there in zip(sets, has, strict=True) if there)
    done.append(Repair("alias", f"{old}={new}", f"{old} is called {new} on {on}"))
    return [rename(data, {old: new}) if there else data for data, there in zip(sets, has, strict=True)]


def _reverse(sets: list[Data], target: str, done: list[Repair]) -> list[Data]:
    model, sign, name = target.rpartition("@")
    where = f"--worst-first {target}"
    if not sign:
        raise UsageError("the set is missing", where=where, fix="Write MODEL@SET")
    at = next((at for at, data in enumerate(sets) if data.name == name), None)
    if at is None:
        raise UsageError(f"no set is called {name!r}", where=where, fix=f"The sets are {', '.join(d.name for d in sets)}")
    data = sets[at]
    if not isinstance(data, Predictions):
        raise UsageError(f"{name} has figures only, no answers to put in order", where=where)
    done.append(Repair("worst-first", target, f"the answers of {model} on {name} are read from last to first"))
    return [*sets[:at], reverse_answers(data, [model]), *sets[at + 1 :]]


def _choose(data: Data, models: Sequence[str], exclude: Sequence[str]) -> Data:
    def there(globs: Sequence[str]) -> list[str]:
        return [glob for glob in globs if any(model.fits(glob) for model in data.models)]

    keep, drop = there(models), there(exclude)
    if models and not keep:
        raise UsageError(f"no model fits {', '.join(models)}", where=data.name, fix=_some_models([data]))
    return pick(data, models=keep, exclude=drop) if keep or drop else data


def check_transforms(original: Data, new: Data, allow: bool) -> list[Notice]:
    """Refuse models that saw different preprocessing on the two sets, unless the user allows it (then tell).

    Raises
    ------
    UsageError
    """
    if not isinstance(original, Predictions) or not isinstance(new, Predictions):
        return []
    different = [
        str(model)
        for model, made in original.provenance.items()
        if TRANSFORM in made and made[TRANSFORM] != new.provenance.get(model, made).get(TRANSFORM, made[TRANSFORM])
    ]
    if not different:
        return []
    many = counted(len(different), "model was", "models were")
    what = f"{many} preprocessed otherwise than on {original.name}: {', '.join(different[:5])}"
    if not allow:
        raise UsageError(
            what,
            where=new.name,
            fix="Different preprocessing moves accuracy by itself: ask them again with one transform, or pass "
            "--allow-different-transforms",
        )
    return [Notice("different-transforms", new.name, f"{what}. Part of the change may come from that.")]


def check_label_spaces(original: Data, new: Data) -> list[Notice]:
    """Tell when the class ids of the two axes mean different sets of classes."""
    if not differ(original.label_space, new.label_space):
        return []
    message = (
        f"the original is scored over {original.label_space}, this set over {new.label_space}: accuracies over different "
        "sets of classes are not on one footing."
    )
    return [Notice("label-spaces-differ", new.name, message)]
