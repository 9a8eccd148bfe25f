"""``python -m resit`` is the command ``resit``."""

from resit.cli import main

if __name__ == "__main__":
    main()
