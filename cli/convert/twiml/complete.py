"""Completes a document: relative addresses by its own address, phone numbers by a country.

What cannot be completed stays as it is, and is remarked where it is converted.
"""

from msgspec.structs import replace

from cli.convert.addresses import resolved, resolved_stream
from cli.convert.context import Context, with_country
from cli.convert.remarks import Remarks
from cli.convert.twiml.document import Element
from cli.convert.twiml.verbs import ADDRESS_TEXTS, NUMBER_TEXTS, WITH_OWN_ADDRESS


def complete(element: Element, given: Context, remarks: Remarks) -> Element:
    """Return the element with all that is in it, completed."""
    content = tuple(
        complete(each, given, remarks) if isinstance(each, Element) else each
        for each in element.content
    )
    completed = replace(element, content=content)
    if given.base_url:
        completed = _with_addresses(completed, given.base_url)
    if given.region:
        completed = _with_numbers(completed, given.region, remarks)
    return completed


def _with_addresses(element: Element, base_url: str) -> Element:
    """Resolve addresses as Twilio does; without an `action` some verbs request the document."""
    action = element.attributes.get("action", "").strip()
    if action or element.name in WITH_OWN_ADDRESS:
        address = resolved(base_url, action)
        element = replace(element, attributes={**element.attributes, "action": address})
    if element.name in ADDRESS_TEXTS and element.text:
        element = _with_text(element, resolved(base_url, element.text))
    if element.name == "Stream" and (url := element.attributes.get("url", "").strip()):
        address = resolved_stream(base_url, url)
        element = replace(element, attributes={**element.attributes, "url": address})
    return element


def _with_numbers(element: Element, region: str, remarks: Remarks) -> Element:
    if element.name in NUMBER_TEXTS and element.text:
        number = with_country(element, element.text, region, remarks)
        element = _with_text(element, number)
    if caller_id := element.attributes.get("callerId"):
        number = with_country(element, caller_id, region, remarks)
        element = replace(element, attributes={**element.attributes, "callerId": number})
    return element


def _with_text(element: Element, text: str) -> Element:
    return replace(element, content=(text, *element.children))
