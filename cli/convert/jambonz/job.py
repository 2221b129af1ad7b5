"""One conversion: what the document leaves open, and what its reader should know."""

from collections.abc import Callable

from msgspec import Struct

from cli.convert.actions import Action
from cli.convert.context import Context
from cli.convert.jambonz.document import Part
from cli.convert.remarks import Remarks


class Job(Struct, frozen=True):
    """What every verb needs for its conversion."""

    context: Context
    remarks: Remarks


Converter = Callable[[Part, Action, Job], Action]
