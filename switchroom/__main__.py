"""The `switchroom` command, also `python -m switchroom`."""

from engine.__main__ import main

if __name__ == "__main__":
    main()
