"""Vega, Vega-Lite and Vega-Embed as one script: a report has it made in another process while it draws its figures."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
from collections.abc import Callable, Iterator

SNIPPET = "window.vegaEmbed = vegaEmbed;"
CODE = f"import sys, vl_convert\nsys.stdout.buffer.write(vl_convert.javascript_bundle({SNIPPET!r}).encode())"
PATIENCE = 60.0


@functools.cache
def vega_bundle() -> str:
    """The script, fit to stand inside a page; made here, and once only."""
    import vl_convert

    return _inline(vl_convert.javascript_bundle(SNIPPET))


def _inline(script: str) -> str:
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@contextlib.contextmanager
def bundle_ahead() -> Iterator[Callable[[], str]]:
    """Start to make the script in another process; what is yielded waits for it, and makes it here if that process fails.

    Yields
    ------
    callable
        Returns the same text as :func:`vega_bundle`.
    """
    process = _started()
    try:
        yield lambda: _finished(process) or vega_bundle()
    finally:
        if process is not None:
            process.kill()
            process.communicate()


def _started() -> subprocess.Popen[bytes] | None:
    if vega_bundle.cache_info().currsize or not sys.executable or getattr(sys, "frozen", False):
        return None
    command = [sys.executable, "-P", "-c", CODE]
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen(command, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet)
    except OSError:
        return None


def _finished(process: subprocess.Popen[bytes] | None) -> str:
    if process is None:
        return ""
    try:
        script, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return ""
    return _inline(script.decode()) if process.returncode == 0 else ""
