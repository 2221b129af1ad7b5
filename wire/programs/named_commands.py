"""Commands by name: each is imported when it runs, or when its own help is shown."""

import sys

from cyclopts import App
from cyclopts.command_spec import CommandSpec


class _NamedCommand(CommandSpec):
    """A group, or a function whose own help is its docstring; that of the list is one line."""

    def resolve(self, parent_app: App) -> App:
        is_new = not self.is_resolved
        resolved = super().resolve(parent_app)
        module, _, name = self.import_path.rpartition(":")
        if is_new and getattr(sys.modules[module], name) is not resolved:
            resolved.help = None  # of a function: then it is the docstring
        return resolved


def add_named_command(app: App, path: str, name: str, text: str) -> None:
    """Add a function or a group such as `package.module:name` with the text that lists show."""
    app._commands[name] = _NamedCommand(path, name=name, help=text)  # noqa: SLF001 - `App.command` has no place for another class
