"""Builds a release from a clean tree, and tags it: `make release VERSION=1.2.0`.

It writes wheel and source of the product and of the Python SDK, the package of the TypeScript SDK,
bills of materials, the changelog's section and their checksums to dist/VERSION/, builds the images
where a Docker engine answers, and adds the tag vVERSION. It pushes nothing: the last line says what
would.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tests.harness.npm import missing_npm
from tools.docs import published
from tools.lock import ROOT
from tools.release.packages import check_packages
from tools.release.version import ReleaseError, check_number, other_versions, section
from tools.sbom import write_bills

IMAGES = {
    **dict.fromkeys(("engine", "api", "streams", "speech", "valkey"), "."),
    "pbx": "asterisk-config",
}


def check(root: Path, version: str) -> str:
    """Return the changelog's section; raises ReleaseError with all that is wrong."""
    check_number(version)
    faults = list(other_versions(root, version))
    if faults:
        faults.append(f"`make version VERSION={version}` writes it everywhere")
    try:
        notes = section(root, version)
    except ReleaseError as error:
        faults.append(str(error))
    if changed := git(root, "status", "--porcelain"):
        faults.append(f"not committed: {', '.join(line[3:] for line in changed.splitlines())}")
    if git(root, "tag", "--list", f"v{version}"):
        faults.append(f"the tag v{version} exists")
    if faults:
        raise ReleaseError("\n  ".join(["nothing was done:", *faults]))
    return notes


def git(root: Path, *words: str) -> str:
    """Return what git prints; raises CalledProcessError."""
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.rstrip("\n")


def build_files(root: Path, folder: Path, notes: str, *, has_typescript: bool) -> None:
    """Write all files; the same commit gives the same bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": git(root, "log", "-1", "--format=%ct")}
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--target", "sdist"]
    for project in (root, root / "sdk/python"):
        subprocess.run([*command, "--directory", folder], cwd=project, check=True, env=environment)
    if has_typescript:
        pack_typescript(root, folder)
    check_packages(folder)
    write_bills(folder)
    pack_documents(folder)
    (folder / "CHANGES.md").write_text(notes)
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))


def pack_documents(folder: Path) -> None:
    """Pack the documents that programs read: OpenAPI, AsyncAPI and JSON Schemas."""
    with TemporaryDirectory() as name:
        published.write(Path(name))
        files = sorted(each for each in Path(name).rglob("*.json"))
        with ZipFile(folder / "documents.zip", "w", ZIP_DEFLATED) as packed:
            for each in files:  # without their times: the same commit gives the same bytes
                packed.writestr(ZipInfo(str(each.relative_to(name))), each.read_bytes())


def pack_typescript(root: Path, folder: Path) -> None:
    """Compile and pack the TypeScript SDK; raises ReleaseError. Without npm there is no package."""
    if reason := missing_npm():
        sys.stdout.write(f"TypeScript SDK: not packed: {reason}\n")
        return
    sdk = root / "sdk/typescript"
    shutil.rmtree(sdk / "dist", ignore_errors=True)  # what is no longer in the source
    (sdk / "tsconfig.tsbuildinfo").unlink(missing_ok=True)
    for command in (
        ["npm", "ci", "--prefer-offline"],
        ["npm", "run", "build"],
        ["npm", "pack", "--pack-destination", str(folder)],
    ):
        done = subprocess.run(command, cwd=sdk, check=False, capture_output=True, text=True)
        if done.returncode:
            raise ReleaseError(
                f"`{' '.join(command)}` failed: {(done.stderr + done.stdout)[-500:]}"
            )


def image_commands(version: str, revision: str) -> list[list[str]]:
    """Return the commands that build the images, each with the version as its tag and label."""
    labels = [f"--build-arg=VERSION={version}", f"--build-arg=REVISION={revision}"]
    return [
        ["docker", "build", "--tag", f"switchroom-{role}:{version}", *labels,
         *(["--target", role] if context == "." else []), context]
        for role, context in IMAGES.items()
    ]  # fmt: skip


def build_images(root: Path, version: str) -> None:
    """Build the images, unless no Docker engine answers."""
    program = shutil.which("docker")
    if program is None or _run(root, [program, "info"], is_quiet=True) != 0:
        sys.stdout.write("images: not built, because no Docker engine answers\n")
        return
    for command in image_commands(version, git(root, "rev-parse", "HEAD")):
        if _run(root, command) != 0:
            raise ReleaseError(f"`{' '.join(command)}` failed; there is no tag")


def _run(root: Path, command: Sequence[str], *, is_quiet: bool = False) -> int:
    output = subprocess.DEVNULL if is_quiet else None
    return subprocess.run(command, cwd=root, check=False, stdout=output, stderr=output).returncode


def release(root: Path, version: str, *, has_images: bool, has_typescript: bool) -> None:
    """Check, build, and then tag, so that a failure leaves no tag."""
    notes = check(root, version)
    folder = root / "dist" / version
    build_files(root, folder, notes, has_typescript=has_typescript)
    if has_images:
        build_images(root, version)
    message = f"Switchroom {version}\n\n{notes}"
    git(root, "tag", "--annotate", "--cleanup=verbatim", "--message", message, f"v{version}")
    names = " ".join(path.name for path in sorted(folder.iterdir()))
    sys.stdout.write(f"{folder.relative_to(root)}: {names}\n")
    sys.stdout.write(f"tag v{version}; nothing was pushed: git push origin v{version}\n")


def main() -> None:
    """Release the version of the command line."""
    words = sys.argv[1:]
    try:
        release(
            ROOT,
            words[0],
            has_images="--no-images" not in words,
            has_typescript="--no-typescript" not in words,
        )
    except ReleaseError as error:
        sys.exit(f"release: {error}")


if __name__ == "__main__":
    main()
