"""A small made-up Result with every field in use, or with much of it not available."""

from __future__ import annotations

import math
from statistics import NormalDist

from resit.study import result as r

NAMES = ("alexnet", "vgg19_bn", "resnet50", "resnet101", "resnet152", "se_resnet/101", "nasnet_a", "fv_64k", "überNetz 模型")
FAMILIES = ("alexnet", "vgg", "resnet", "resnet", "resnet", "senet", "nasnet", "fisher", None)
UNKNOWN = "the number of examples is not known"
HOSTILE = ("<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "a|b_c%d & $e")


def estimate(value: float, half: float = 0.05, method: str = "percentile bootstrap") -> r.Estimate:
    return r.Estimate(value, value - half, value + half, method)


def missing(reason: str) -> r.Estimate:
    return r.Estimate(None, reason=reason)


def score(accuracy: float, n: int, rank: float, full: bool, models: int) -> r.Score:
    if not full:
        return r.Score(None, None, accuracy, None, None, None, rank, reason=UNKNOWN)
    half = 1.96 * math.sqrt(accuracy * (1 - accuracy) / n)
    interval = r.RankInterval(max(1, int(rank) - 1), min(models, int(rank) + 1))
    return r.Score(round(accuracy * n), n, accuracy, accuracy - half, accuracy + half, "clopper-pearson", rank, interval)


def models(names: tuple[str, ...], shift: float, full: bool) -> tuple[r.ModelRow, ...]:
    count = len(names)
    old = [0.56 + 0.27 * i / (count - 1) for i in range(count)]
    new = [1.1 * a - shift + 0.004 * (-1) ** i for i, a in enumerate(old)]
    rank = {a: float(i) for i, a in enumerate(sorted(new, reverse=True), 1)}
    return tuple(
        r.ModelRow(
            key=name,
            model=name,
            variant="",
            family=FAMILIES[i % len(FAMILIES)] if full else None,
            kind=("fisher" if i % len(FAMILIES) == 7 else "convnet") if full else None,
            date=f"201{i % 9}-06" if full else None,
            baseline=not full or i % len(FAMILIES) != 7,
            original=score(a, 50_000, float(count - i), full, count),
            new=score(b, 10_000, rank[b], full, count),
            change=estimate(b - a, 0.009, "newcombe") if full else r.Estimate(b - a, reason=UNKNOWN),
            rank_change=float(count - i) - rank[b],
            effective_robustness=0.002 * (-1) ** i if full else None,
            reason=None if full else "no line",
        )
        for i, (name, a, b) in enumerate(zip(names, old, new, strict=True))
    )


def fit(scale: str, count: int, shift: float, full: bool) -> r.Fit:
    if not full:
        why = "fewer than three models"
        return r.Fit(scale, count, missing(why), missing(why), None, None, reason=why)
    x = [0.56 + 0.27 * i / 20 for i in range(21)]
    y = [1.1 * a - shift for a in x]
    bend = 0.01 if scale == "linear" else 0.006
    band = r.Band(tuple(x), tuple(y), tuple(v - bend for v in y), tuple(v + bend for v in y))
    slope, intercept = estimate(1.1 if scale == "linear" else 0.968, 0.02), estimate(-shift, 0.03)
    units = tuple(r.FitInterval(unit, 2000, 3, slope, intercept) for unit in ("models", "examples", "crossed", "families"))
    noise = r.NoiseCorrection(1.111, 1.112, 4.8, "examples of the two sets are independent of each other")
    return r.Fit(scale, count, slope, intercept, 0.9912, 0.0042, 1, ("überNetz 模型",), units, band, noise)


def class_row(i: int) -> r.ClassRow:
    return r.ClassRow(f"n{i:04}", f"class {i}", 50, 10, 0.8, 0.8 - 0.02 * i, -0.02 * i)


def comparison(
    name: str = "matched-frequency",
    metric: str = "top1",
    *,
    full: bool = True,
    names: tuple[str, ...] = NAMES,
    shift: float = 0.21,
) -> r.Comparison:
    rows = models(names, shift, full)
    mean = [sum(a) / len(rows) for a in zip(*((row.original.accuracy, row.new.accuracy) for row in rows), strict=True)]
    n, kind = (10_000, "predictions") if full else (None, "accuracies")
    pair = r.PairOnSet(515, 417, estimate(0.01), 0.0002)
    base = sum(row.baseline for row in rows)
    why = "only accuracies are known"
    return r.Comparison(
        new=r.SetInfo(name, n, kind, "imagenet-1k", len(rows), 1000, reason=why),
        metric=metric,
        weighting="micro",
        label_space=r.LabelSpaces("imagenet-1k", "imagenet-1k"),
        n_models=len(rows),
        baseline=r.Baseline("kind=convnet" if full else "all models", base),
        mean_original=mean[0],
        mean_new=mean[1],
        mean_change=mean[1] - mean[0],
        mean_change_interval=estimate(mean[1] - mean[0], 0.006) if full else missing(why),
        fits={scale: fit(scale, base, shift, full) for scale in r.SCALES},
        fits_all={scale: fit(scale, len(rows), shift, full) for scale in r.SCALES},
        bootstrap=r.Bootstrap("models", 100_000),
        spearman=0.9968 if full else None,
        kendall=0.97 if full else None,
        real_swaps=(r.Swap(names[0], names[1], pair, pair, 0.012),) if full else None,
        n_pairs=len(rows) * (len(rows) - 1) // 2,
        models=rows,
        aline=r.Aline(1.1, -0.1, 0.98, 0.0204, 0.0205, 0.1197) if full else r.Aline(*[None] * 6, reason=why),
        drop_in_years=estimate(3.2, 0.8) if full else missing("no model has a date"),
        classes=tuple(r.ClassRow(f"n{i:04}", f"class {i}", 50, 10, 0.8, 0.8 - 0.02 * i, -0.02 * i) for i in range(-3, 30))
        if full
        else None,
        confusions=(r.Confusion("n01", "crane", "n02", "crane", 0.1, 0.2),) if full else None,
        unmatched=r.Unmatched(("fv_64k_model",), ("fv_64k",), ("fv_64k_model=fv_64k",)) if full else r.Unmatched((), ()),
        verdict=(
            "The slope is 1.100 [1.080, 1.120]: better models lose no more than others.",
            "A common drop is not excluded.",
        ),
        reason={} if full else dict.fromkeys(("spearman", "real_swaps", "classes", "confusions"), why),
    )


def result(*comparisons: r.Comparison, warnings: int = 2) -> r.Result:
    if not comparisons:
        sets = (("matched-frequency", 0.21), ("threshold-0.7", 0.12))
        comparisons = tuple(comparison(s, m, shift=d / (1 + 2 * (m == "top5"))) for s, d in sets for m in ("top1", "top5"))
    return r.Result(
        schema=r.SCHEMA,
        level=0.95,
        seed=0,
        original=r.SetInfo("val", 50_000, "predictions", "imagenet-1k", 9, 1000, "abc", "def", "val", 28),
        comparisons=comparisons,
        overlaps=(r.Overlap("matched-frequency", "threshold-0.7", 3186, "example ids", estimate(-0.086, 0.004)),),
        repairs=(r.Repair("alias", "fv_64k_model=fv_64k", "1 model renamed"),),
        warnings=tuple(
            r.Caution("worst-first", f"fv_16k{i or ''}", "Classes seem stored worst first.") for i in range(warnings)
        ),
        settings={"resamples": "100000", "workers": "2"},
        versions={"resit": "0.1.0", "numpy": "2.4.6"},
    )


def probit(p: float) -> float:
    return NormalDist().inv_cdf(p)
