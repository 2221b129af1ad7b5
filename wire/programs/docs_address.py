"""Where programs say that the docs are."""

DOCS_URL = "docs"  # the folder of the repository; a published copy has an address


def page_link(page: str, anchor: str) -> str:
    """Return the address of a part of a page."""
    return f"{DOCS_URL}/{page}.md#{anchor}"
