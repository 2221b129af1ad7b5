"""The `switchroom` command, also `python -m switchroom`."""

from cli.main import main

if __name__ == "__main__":
    main()
