"""Commands by name: each is imported when it runs, or when its own help is shown."""

from cyclopts import App
from cyclopts.command_spec import CommandSpec

from wire.programs.help_text import paragraphs


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


def add_commands_of(app: App, group: App) -> None:
    """Add the commands of a group to another's, without an import of those that it names."""
    app._commands.update(group._commands)  # noqa: SLF001 - `App.command` would resolve each


def with_example(text: str, example: str) -> str:
    """Return the help of a group: its line in lists, and an example of its commands."""
    return f"{text}\n\nExample: switchroom {example}"
