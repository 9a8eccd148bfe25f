"""The application: which commands there are, and how every ending becomes one line and an exit code."""

from __future__ import annotations

import codecs
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer
from typer.main import get_command

from resit.cli.build import build
from resit.cli.compare import compare
from resit.cli.data import data
from resit.cli.doctor import doctor
from resit.cli.evaluate import evaluate
from resit.cli.explain import explain
from resit.cli.groups import groups
from resit.cli.options import Debug, State
from resit.cli.plan import plan
from resit.cli.progress import progress
from resit.cli.retrain import retrain
from resit.cli.serve import serve
from resit.errors import OutputError, ResitError, UsageError, one_line

INTERNAL, INTERRUPTED, BROKEN_PIPE = 70, 130, 141
EXIT_CODES = (
    "Exit codes: 0 done; 1 doctor or data verify found problems; 2 wrong usage; 3 input that cannot be used; "
    "4 output that cannot be written; 70 an error inside resit; 130 interrupted."
)

app = typer.Typer(
    name="resit",
    help="Let models sit the exam again: what is an old benchmark's score worth on a new test set?",
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command(epilog=EXIT_CODES)(compare)
app.command(epilog=EXIT_CODES)(evaluate)
app.command(epilog=EXIT_CODES)(explain)
app.command(epilog=EXIT_CODES)(progress)
app.command(epilog=EXIT_CODES)(groups)
app.command(epilog=EXIT_CODES)(retrain)
app.command(epilog=EXIT_CODES)(doctor)
app.command(epilog=EXIT_CODES)(serve)
app.add_typer(plan, epilog=EXIT_CODES)
app.add_typer(build, epilog=EXIT_CODES)
app.add_typer(data, epilog=EXIT_CODES)


def _version(value: bool) -> None:
    if value:
        import resit

        typer.echo(f"resit {resit.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
    debug: Debug = False,
) -> None:
    pass


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and say how it ended.

    Parameters
    ----------
    args : sequence of str, optional
        The words after ``resit``. Default: those of this process; none at all shows the help.

    Returns
    -------
    int
        The exit code.
    """
    state = State()
    words = list(sys.argv[1:] if args is None else args) or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors=PLAIN_MINUS)
    if sys.stdout is None:  # closed by the caller
        sys.stdout = io.StringIO()
    try:
        code = get_command(app).main(args=words, prog_name="resit", standalone_mode=False, obj=state)
        sys.stdout.flush()
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return BROKEN_PIPE
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        hint = f". Try '{context.command_path} --help'." if context else ""
        return _fail(f"{error.format_message().rstrip('.')}{hint}", 2, state)
    except ResitError as error:
        return _fail(str(error), 2 if isinstance(error, UsageError) else 4 if isinstance(error, OutputError) else 3, state)
    except OSError as error:
        _drop_output()
        return _fail(f"the output could not be written ({error.strerror or error})", 4, state)
    except Exception as error:
        advice = "" if state.debug else " This is a fault in resit; run again with --debug to see where it happened."
        return _fail(f"{type(error).__name__}: {error}.{advice}", INTERNAL, state)
    return code if isinstance(code, int) else 0


def _drop_output() -> None:
    """What is still to be written goes nowhere, so that leaving the process does not fail on it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _plain_minus(error: UnicodeError) -> tuple[str, int]:
    """A real minus sign is a hyphen where the stream has none, and never a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join("-" if sign in "−–" else "?" for sign in text), error.end


PLAIN_MINUS = "resit-minus"
codecs.register_error(PLAIN_MINUS, _plain_minus)


def _fail(message: str, code: int, state: State) -> int:
    if state.debug:
        traceback.print_exc()
    print("resit: error:", one_line(message), file=sys.stderr)
    return code


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Do what the command line says, then leave the process with the exit code of :func:`run`."""
    sys.exit(run(args))
