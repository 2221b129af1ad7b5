"""Which elements of TwiML have a text, and which have others in them."""

from cli.convert.remarks import Remarks
from cli.convert.twiml.document import Element

_WITH_TEXT = {"Say", "Play", "Redirect", "Dial"}
_WITH_CHILDREN = {"Say", "Gather", "Dial", "Connect", "Start", "Stop", "Stream"}


def check_content(element: Element, remarks: Remarks) -> None:
    """Remark texts and elements where TwiML has none."""
    if element.text and element.name not in _WITH_TEXT:
        remarks.lose(element, f"has a text, which is left out: {element.text}")
    if element.name not in _WITH_CHILDREN:
        for each in element.children:
            remarks.lose(each, f"in <{element.name}> is left out")
