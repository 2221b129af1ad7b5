"""Where programs say that the docs are.

There is no public copy of the docs. Programs name pages of the repository; servers have the pages
of error codes themselves, below ERROR_PATH, so that a problem's `type` opens without the internet.
"""

DOCS_URL = "docs"  # the folder of the repository; a published copy has an address
ERROR_PATH = "/docs/errors"  # at the REST layer and at an engine's RPC


def page_link(page: str, anchor: str = "") -> str:
    """Return the address of a page, or of a part of it."""
    return f"{DOCS_URL}/{page}.md#{anchor}" if anchor else f"{DOCS_URL}/{page}.md"


def error_page_link(code: str) -> str:
    """Return the address of an error code in the docs, for people who have them."""
    return page_link("reference/errors", code)


def error_path(code: str) -> str:
    """Return the address of an error code's page at the server that sends it (RFC 9457, `type`).

    A reference that begins with / leads to the server of the response, whatever its name.
    """
    return f"{ERROR_PATH}/{code}"
