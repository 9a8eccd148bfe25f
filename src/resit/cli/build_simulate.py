"""``resit build simulate``: the whole path with people who are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from resit.cli.options import INPUT, RUN, Debug
from resit.errors import UsageError

Strategy = Literal["matched-frequency", "threshold", "top-images", "uniform", "corrected-frequency"]
CROWD, FAULTS = "The people", "Planted faults"
# Wanted images of a class, where nothing is said.
PER_CLASS = 20


def simulate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Gets data, build, release, answers and report; new or empty.")],
    original: Annotated[
        str | None,
        typer.Option(metavar="BENCHMARK", help="Test set with images. Default: scikit-learn's digits.", rich_help_panel=INPUT),
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(metavar="PATH", help="Images to choose from, with true labels.", rich_help_panel=INPUT)
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Training images, not to be repeated. Repeatable.", rich_help_panel=INPUT),
    ] = None,
    classes: Annotated[str | None, typer.Option(metavar="LIST", help="Class list of these.", rich_help_panel=INPUT)] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Votes on originals. Default: 50 on each, of people who are not rejected.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Candidates at most. Default: all.", rich_help_panel=INPUT)
    ] = None,
    per_class: Annotated[
        int, typer.Option(min=1, metavar="N", help="Wanted images of each class.", rich_help_panel=RUN)
    ] = PER_CLASS,
    strategy: Annotated[Strategy, typer.Option(help="How images are chosen.", rich_help_panel=RUN)] = "matched-frequency",
    votes: Annotated[int, typer.Option(min=1, metavar="N", help="People who see each candidate.", rich_help_panel=CROWD)] = 10,
    people: Annotated[int, typer.Option(min=1, metavar="N", help="How many people there are.", rich_help_panel=CROWD)] = 100,
    skill: Annotated[
        float, typer.Option(min=0.5, max=1, help="Mean probability that a person answers right.", rich_help_panel=CROWD)
    ] = 0.97,
    spam: Annotated[
        float, typer.Option(min=0, max=1, metavar="FRACTION", help="People who select blindly.", rich_help_panel=CROWD)
    ] = 0.05,
    laziness: Annotated[
        float, typer.Option(min=0, max=1, metavar="FRACTION", help="Images that people skip.", rich_help_panel=CROWD)
    ] = 0.0,
    reject_below: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="FRACTION", help="Accuracy on controls that people need.", rich_help_panel=CROWD),
    ] = 0.75,
    care: Annotated[
        float, typer.Option(min=0, max=1, help="Probability that a reviewer sees a fault.", rich_help_panel=CROWD)
    ] = 0.95,
    wrong: Annotated[
        float, typer.Option(min=0, max=1, metavar="FRACTION", help="Candidates with a wrong label.", rich_help_panel=FAULTS)
    ] = 0.05,
    duplicates: Annotated[
        float, typer.Option(min=0, max=1, metavar="FRACTION", help="Near-duplicates to add.", rich_help_panel=FAULTS)
    ] = 0.05,
    no_models: Annotated[bool, typer.Option("--no-models", help="Do not train and ask models.", rich_help_panel=RUN)] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random.", rich_help_panel=RUN)] = 0,
    debug: Debug = False,
) -> None:
    """Go the whole path on digits or given images, with simulated people: for teaching, and before you spend money."""
    from resit.cli.show import progress
    from resit.simulate.parts import digits_parts, given_parts
    from resit.simulate.people import Crowd
    from resit.simulate.planted import Plants
    from resit.simulate.reviewers import Reviewers
    from resit.simulate.run import DATA, REPORT, People, refuse_used
    from resit.simulate.run import simulate as library_simulate

    given = (original, candidates, *(train or ()))
    if any(given) and not (original and candidates and train):
        fix = "Give --original, --candidates and --train, or none of them."
        raise UsageError("some of the images, but not all", where="simulate", fix=fix)
    refuse_used(folder)
    who = People(Crowd(people, skill, spam, laziness), Reviewers(care=care), votes, reject_below)
    with progress() as tell:
        if original and candidates and train:
            parts = given_parts(original, candidates, train, classes=classes, most=most, seed=seed)
        else:
            parts = digits_parts(folder / DATA, seed=seed)
        done = library_simulate(
            parts,
            folder,
            per_class=per_class,
            people=who,
            plants=Plants(wrong=wrong, duplicates=duplicates),
            strategy=strategy,
            counts=counts,
            models=not no_models,
            seed=seed,
            tell=tell,
        )
    typer.echo(done)
    if done.result is not None:
        typer.echo(f"Report: {folder / REPORT / 'index.html'}")
