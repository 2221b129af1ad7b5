"""Writes and reads the Stasis arguments of a Local channel's half that replaces a leg.

`Stasis(<app>,replaces,<leg>,<account>,<party>)`, percent-encoded: see the context
switchroom-replaces in asterisk-config/etc/extensions.conf.
"""

from collections.abc import Sequence
from urllib.parse import quote, unquote

from engine.calls.model.commands import ReplacedLeg
from engine.calls.model.requests import ReplacementArrived

KIND = "replaces"
_COUNT = 4  # of arguments; those after them are of a later version


def replacement_arguments(replaced: ReplacedLeg) -> str:
    """Return the arguments of Stasis()."""
    named = (replaced.leg, replaced.account, replaced.party)
    return ",".join((replaced.app, KIND, *(quote(each, safe="") for each in named)))


def read_replacement(channel: str, args: Sequence[str]) -> ReplacementArrived | None:
    """Read the arguments after the app; None when they are those of another channel."""
    if args[:1] != [KIND] or len(args) < _COUNT:
        return None
    replaced, account, party = map(unquote, args[1:_COUNT])
    return ReplacementArrived(channel, replaced, account, party)
