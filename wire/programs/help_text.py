"""Help of commands: docstrings whose paragraphs are lines, which a terminal wraps by its width."""

import inspect


def paragraphs(docstring: str) -> str:
    """Return a docstring with one line for each paragraph."""
    blocks = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(" ".join(block.split()) for block in blocks)
