"""The command line: parse, one library call, show. No logic lives here; what a command does, Python can do too."""

from resit.cli.app import main as main
from resit.cli.app import run as run

__all__ = ["main", "run"]
