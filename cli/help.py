"""Help of commands, which are imported when they run or explain themselves; wrong usage."""

import inspect
from difflib import get_close_matches

from cyclopts import (
    App,
    CycloptsError,
    CycloptsPanel,
    MissingArgumentError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from cyclopts.command_spec import CommandSpec
from rich.panel import Panel


class _NamedCommand(CommandSpec):
    """A group or function: its own help is whole; the text of lists is the first line."""

    def resolve(self, parent_app: App) -> App:
        listed, self.help = self.help, None  # else it would replace the help of the group
        try:
            resolved = super().resolve(parent_app)
        finally:
            self.help = listed
        resolved.help = paragraphs(resolved.help)
        return resolved


def add_named_command(app: App, path: str, name: str, text: str) -> None:
    """Add a function or a group such as `package.module:name` with the text that lists show."""
    app._commands[name] = _NamedCommand(path, name=name, help=text)  # noqa: SLF001 - `App.command` has no place for another class


def with_example(text: str, example: str) -> str:
    """Return the help of a group: its line in lists, and an example of its commands."""
    return f"{text}\n\nExample: switchroom {example}"


def paragraphs(docstring: str) -> str:
    """Return a docstring with one line for each paragraph."""
    blocks = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(" ".join(block.split()) for block in blocks)


def usage_panel(error: CycloptsError) -> Panel:
    return CycloptsPanel(_text(error) or error)


def _text(error: CycloptsError) -> str:
    """Return the text of an error; empty: that of the library."""
    match error:
        case MissingArgumentError(argument=argument, keyword=None) if (
            argument is not None and argument.index is not None and not argument.tokens
        ):
            command = " ".join(error.command_chain or ())
            return f'Command "{command}" requires {argument.name.lstrip("-").upper()}.'
        case UnknownOptionError(token=token) if token.source == "cli":
            option = token.keyword or token.value
            names = (name for each in error.argument_collection for name in each.names)
            # The dashes are left out: they make short options resemble each other.
            known = {name.lstrip("-"): name for name in names if name.startswith("--")}
            close = get_close_matches(option.lstrip("-").partition("=")[0], known, n=1)
            suggestion = f" Did you mean {known[close[0]]}?" if close else ""
            return f"Unknown option: {option}.{suggestion}"
        case UnusedCliTokensError(unused_tokens=[first, *more]):
            others = f" and {len(more)} more" if more else ""
            command = " ".join(error.command_chain or ())
            return f'Command "{command}" has too many arguments: {first}{others}.'
        case _:
            return ""
