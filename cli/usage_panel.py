"""The panel for wrong usage of a command: names as the usage line has them, apt suggestions."""

from difflib import get_close_matches

from cyclopts import (
    CycloptsError,
    CycloptsPanel,
    MissingArgumentError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from rich.panel import Panel


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
