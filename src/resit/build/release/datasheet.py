"""The datasheet of a release: what the build knows is answered, what only people know is marked as open until they do."""

from __future__ import annotations

from resit.build.release.facts import Facts
from resit.build.release.questions import SECTIONS
from resit.build.release.record import ReleaseSettings
from resit.data.paths import short_list
from resit.errors import UsageError

OPEN = "**Open.** The makers have not answered this yet."


def datasheet(facts: Facts, settings: ReleaseSettings) -> str:
    """The datasheet, as Markdown.

    Parameters
    ----------
    facts : Facts
    settings : ReleaseSettings

    Returns
    -------
    str

    Raises
    ------
    UsageError
        If there is an answer to a question that is none.

    References
    ----------
    Gebru, T., et al. (2021). Datasheets for Datasets. Communications of the ACM 64(12).
    """
    known = {key for questions in SECTIONS.values() for key in questions}
    strange = sorted(settings.answers.keys() - known)
    if strange:
        what = f"answers to questions that the datasheet does not have: {short_list(strange)}"
        raise UsageError(what, where="datasheet", fix=f"Its questions are {', '.join(sorted(known))}.")
    answers = {**answers_of(facts, settings), **settings.answers}
    left = sum(key not in answers for key in known)
    lines = [f"# Datasheet of {settings.title or settings.name} {settings.version}", ""]
    lines += [
        "After Gebru et al. (2021), Datasheets for Datasets. Answers come from the record of the build"
        f"{' and from its makers' if settings.answers else ''}; {left} of {len(known)} questions are open.",
    ]
    for section, questions in SECTIONS.items():
        lines += ["", f"## {section}"]
        for key, question in questions.items():
            lines += ["", f"**{question}** (`{key}`)", "", answers.get(key, OPEN)]
    return "\n".join(lines) + "\n"


def answers_of(facts: Facts, settings: ReleaseSettings) -> dict[str, str]:
    """Answers that the build knows, by the question's key.

    Parameters
    ----------
    facts : Facts
    settings : ReleaseSettings

    Returns
    -------
    dict of str to str
    """
    return {**_composition(facts, settings), **_collection(facts, settings), **_rest(facts, settings)}


def _composition(facts: Facts, settings: ReleaseSettings) -> dict[str, str]:
    original = settings.original or "an earlier benchmark"
    held = f" A share of {settings.hold_out:g} of each class is held out and not part of it." if settings.hold_out else ""
    seen = f"People looked at {facts.reviewed:,} of {facts.images:,} images after they were selected."
    odd = f" Classes noted as problematic: {short_list(facts.problematic)}." if facts.problematic else ""
    return {
        "purpose": f"To measure models again that were measured on {original}, on new images that were chosen in the same way.",
        "instances": "Images.",
        "count": f"{facts.images:,} images in {facts.classes:,} classes, {facts.fewest:,} to {facts.most:,} a class.{held}",
        "sample": f"A sample of {facts.candidates:,} candidates, listed with their votes in `record/candidates.parquet`.",
        "content": "The bytes of an image as they were found, any metadata in the file included, and the columns of "
        "`data/test.parquet`.",
        "label": "Yes: one class an image (`label`, `class_id`), and how many people selected the image for it.",
        "missing": "Licence, author and address are empty where the source did not give them.",
        "relationships": f"{facts.pairs:,} pairs of near images were listed, and {facts.pair_verdicts:,} verdicts given "
        "(`record/pairs.parquet`, `record/verdicts.parquet`).",
        "splits": "One split, `test`. It is no training data.",
        "errors": f"{seen} What they found is in `record/verdicts.parquet`.{odd}",
        "self-contained": "Yes. Addresses in `attribution.csv` say where the images came from; nothing is fetched from there.",
    }


def _collection(facts: Facts, settings: ReleaseSettings) -> dict[str, str]:
    votes = f"{facts.votes:,} votes in {facts.assignments:,} assignments by {facts.people:,} people"
    found = {
        "acquired": "Candidates were collected from the sources in `record/candidates.parquet`, and people selected those that "
        "show the class.",
        "mechanisms": f"{votes} (`record/votes.parquet`)." if facts.votes else "Counts of votes, without single votes.",
    }
    if facts.strategy:
        minimum = f"at least {settings.minimum_votes} votes an image"
        found["sampling"] = f"`{facts.strategy}`, {minimum}, revision {facts.revision}; see `record/selection.json`."
    if facts.first_day:
        found["timeframe"] = (
            f"Votes are of {facts.first_day} to {facts.last_day}. The build does not know when the images were made."
        )
    return found


def _rest(facts: Facts, settings: ReleaseSettings) -> dict[str, str]:
    licences = "; ".join(f"{name}: {n:,} images" for name, n in facts.licences)
    found = {
        "preprocessing": "Images are as they were found. Labels are the class that the image was found for and selected by "
        "people; near-duplicates and images judged wrong were left out.",
        "raw": "Votes, candidates, near-duplicates and verdicts are released. Candidates that were not selected are listed, "
        "without their images.",
        "software": "Yes: `resit build`.",
        "licence": f"{settings.licence + '. ' if settings.licence else ''}Of the images: {licences} (`attribution.csv`).",
        "not-for": "Training or tuning: its use is to tell what a score on the original is worth.",
        "old-versions": "A release is never replaced; a change gets another version.",
    }
    if settings.contact:
        found["contact"] = settings.contact
    if settings.homepage:
        found["how"] = f"See {settings.homepage}."
    return found
