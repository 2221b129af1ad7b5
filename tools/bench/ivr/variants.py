"""Who serves the standard call: the dialplan, the bare application or the engine."""

from msgspec import Struct

from tools.bench.ivr.stack import BY_BARE, BY_DIALPLAN, BY_ENGINE


class Variant(Struct, frozen=True):
    """One way to serve the call; `application` is the process that does it beside Asterisk."""

    name: str
    number: str
    application: str = ""


DIALPLAN = Variant("dialplan", BY_DIALPLAN)
BARE = Variant("bare", BY_BARE, "bare")
ENGINE = Variant("engine", BY_ENGINE, "engine")
VARIANTS = (DIALPLAN, BARE, ENGINE)
