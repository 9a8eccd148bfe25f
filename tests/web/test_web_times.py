"""Times of verdicts: each later than the one before."""

from __future__ import annotations

from extras import needs

needs("fastapi")


def test_times_go_on_after_the_last_one_that_is_known_though_the_clock_was_set_back():
    from resit.web.times import Moments

    after = "2999-01-01T00:00:00.000Z"
    moments = Moments(after)
    first, second = moments.next(), moments.next()
    assert after < first < second
    assert Moments("2000-01-01T00:00:00").next() > "2026"
