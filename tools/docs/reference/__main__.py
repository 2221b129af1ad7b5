"""`python -m tools.docs.reference` (`make docs`): writes docs/reference."""

from tools.docs.reference.pages import sources, stale_pages


def main() -> None:
    current = sources()
    for path in stale_pages(current):
        path.unlink()
    for path, text in current.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
