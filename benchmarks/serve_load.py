"""200 people who vote at once, in a process of their own: clicks a Poisson process, every twentieth followed by a new page."""

from __future__ import annotations

import asyncio
import json
import random
import re
import ssl
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

MEAN, PAGE, CLICKS = 1.25, 48, 20
WARM = 5.0  # seconds in which all arrive; not counted
TLS = ssl.create_default_context()  # made once: to make it for each person takes longer than their pages


@dataclass
class Seen:
    """What all people saw: seconds of each save and page, and what was saved."""

    saves: list[tuple[float, float]] = field(default_factory=list)
    pages: list[tuple[float, float]] = field(default_factory=list)
    clicks: int = 0
    finished: int = 0
    problems: list[str] = field(default_factory=list)


async def timed(into: list[tuple[float, float]], call: Any) -> httpx.Response:
    """The answer to a request; when it began and how long it took is noted."""
    start = time.monotonic()
    answer: httpx.Response = await call
    into.append((start, time.monotonic() - start))
    return answer


async def page(client: httpx.AsyncClient, seen: Seen) -> tuple[str, str]:
    """The next page: its task, and the token of the session."""
    text = (await timed(seen.pages, client.get("/vote"))).text
    task, token = (re.search(rf'data-{name}="(\w+)"', text) for name in ("task", "csrf"))
    assert task, text[:500]
    assert token, text[:500]
    return task[1], token[1]


async def person(link: str, seen: Seen, end: float, rng: random.Random) -> None:
    """One person, from the link on."""
    base = "/".join(link.split("/")[:3])
    async with httpx.AsyncClient(base_url=base, follow_redirects=True, timeout=60, verify=TLS) as client:
        await client.get(link)
        task, token = await page(client, seen)
        selected: set[int] = set()
        done = 0
        while time.monotonic() < end:
            await asyncio.sleep(rng.expovariate(1 / MEAN))
            at = rng.randrange(PAGE)
            selected ^= {at}
            done += 1
            body = {"clicks": [{"event": f"{rng.getrandbits(64):016x}", "position": at, "selected": at in selected}]}
            headers = {"x-csrf-token": token}
            answer = await timed(seen.saves, client.post(f"/vote/{task}/clicks", json=body, headers=headers))
            seen.clicks += 1
            if answer.status_code != 200:
                seen.problems.append(answer.text)
            if done % CLICKS == 0:
                body = {"selected": sorted(selected)}
                answer = await client.post(f"/vote/{task}/finish", json=body, headers=headers)
                seen.finished += 1
                if answer.status_code != 200 or not answer.json()["new"]:
                    seen.problems.append(answer.text)
                selected = set()
                task, token = await page(client, seen)


async def main(seconds: float, links: list[str]) -> dict[str, Any]:
    """Let all vote; latencies of what began after they had arrived."""
    seen, start = Seen(), time.monotonic()
    end = start + WARM + seconds

    async def arriving(number: int, link: str) -> None:
        await asyncio.sleep(WARM * number / len(links))
        await person(link, seen, end, random.Random(number))

    await asyncio.gather(*(arriving(number, link) for number, link in enumerate(links)))

    def late(what: list[tuple[float, float]]) -> list[float]:
        return [took for began, took in what if began > start + WARM]

    told = {"clicks": seen.clicks, "finished": seen.finished, "problems": seen.problems[:5]}
    return {**told, "saves": late(seen.saves), "pages": late(seen.pages)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(float(sys.argv[1]), sys.stdin.read().split()))))
