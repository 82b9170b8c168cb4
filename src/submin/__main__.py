"""``python -m submin`` is the command ``submin``."""

from submin.cli import main

if __name__ == "__main__":
    main()
