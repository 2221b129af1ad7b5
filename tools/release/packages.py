"""Checks the Python packages of a release as an index does before it accepts them."""

import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.metadata import InvalidMetadata, Metadata
from packaging.utils import parse_sdist_filename, parse_wheel_filename

from tools.release.version import ReleaseError

DISPLAYED = {"text/markdown", "text/plain"}  # content types of a description that need no renderer


def check_packages(folder: Path) -> None:
    """Check the metadata of all wheels and source archives; raises ReleaseError with all faults."""
    paths = sorted((*folder.glob("*.whl"), *folder.glob("*.tar.gz")))
    faults = [f"{path.name}: {fault}" for path in paths for fault in _faults(path)]
    if faults:
        raise ReleaseError("\n  ".join(["a package has faults; there is no tag:", *faults]))


def metadata(path: Path) -> bytes:
    """Return the metadata of a wheel or a source archive."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            (name,) = [each for each in wheel.namelist() if each.endswith(".dist-info/METADATA")]
            return wheel.read(name)
    with tarfile.open(path) as archive:
        file = archive.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
        return file.read() if file else b""


def _faults(path: Path) -> Iterator[str]:
    try:
        found = Metadata.from_email(metadata(path), validate=True)
    except ExceptionGroup as group:
        yield from map(str, group.exceptions)
        return
    except InvalidMetadata as fault:
        yield str(fault)
        return
    parse = parse_wheel_filename if path.suffix == ".whl" else parse_sdist_filename
    name, version, *_ = parse(path.name)
    if (found.name.lower(), found.version) != (name, version):
        yield f"its metadata is that of {found.name} {found.version}"
    if not found.description:
        yield "no description"
    if (found.description_content_type or "text/x-rst").partition(";")[0] not in DISPLAYED:
        yield f"no index displays a description of {found.description_content_type}"
    if not found.summary or not found.requires_python or not found.license_expression:
        yield "summary, Python version or license is missing"
