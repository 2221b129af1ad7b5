"""The error of a setting that prepare.py cannot use."""

# ruff: noqa: INP001 - beside a script, not a package


class SettingError(Exception):
    """A PBX_ variable has a value that is not allowed."""

    def __init__(self, setting: str, text: str) -> None:
        super().__init__(f"PBX_{setting}: {text}")
