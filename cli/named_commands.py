"""Commands by name: each is imported when it runs, or when its own help is shown."""

import inspect

from cyclopts import App
from cyclopts.command_spec import CommandSpec


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
