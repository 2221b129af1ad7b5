"""Parsers of untrusted files have no secrets, no network, no programs, and no files but theirs."""

import asyncio
import os
import sys
from pathlib import Path
from typing import IO

import pytest

from api.contacts.imports.reader.messages import FileFormat, ReadRequest
from api.contacts.imports.reader_client import NICENESS, batches
from base.sandbox import ENVIRONMENT, SOURCES
from engine.media.worker.process import Worker
from engine.media.worker.protocol import Transcode
from tests.harness.media.sounds import LIMITS, sound

BEGIN = """
import os, socket, subprocess, sys
from pathlib import Path
from base.sandbox import ResourceLimits, restrict, set_limits
set_limits(ResourceLimits(2 << 30, 1024, 32, 60))
folder = Path(sys.argv[1])
restrict([folder / "given.csv"], [folder / "parts"])
try:
    {attempt}
except (OSError, MemoryError) as error:
    print("refused", type(error).__name__)
else:
    print("done")
"""
REFUSED = {
    "a socket": "socket.create_connection(('127.0.0.1', 9), timeout=1)",
    "a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a pair of sockets": "socket.socketpair()",
    "a name": "socket.getaddrinfo('example.com', 443)",
    "the parent's environment": "Path(f'/proc/{os.getppid()}/environ').read_bytes()",
    "the parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "a signal to the parent": "os.kill(os.getppid(), 0)",
    "another process": "os.fork()",
    "a program": "subprocess.run(['/bin/true'])",
    "to become a program": "os.execv('/bin/true', ['true'])",
    "another file": "(folder / 'other.csv').read_bytes()",
    "a file of the system": "Path('/etc/passwd').read_bytes()",
    "a file of settings": "(Path.cwd() / '.env').read_bytes()",
    "to write the given file": "(folder / 'given.csv').write_bytes(b'x')",
    "a new file": "Path('/tmp/attack').write_bytes(b'x')",
    "a large file": "(folder / 'parts' / 'large').write_bytes(b'x' * 2048)",
    "many files": "[open('/dev/null') for _ in range(40)]",
    "memory": "bytearray(3 << 30)",
}
ALLOWED = {
    "the given file": "(folder / 'given.csv').read_bytes()",
    "a small file": "(folder / 'parts' / 'small').write_bytes(b'x')",
    "a thread": "import threading; threading.Thread(target=len, args=('x',)).start()",
    "a library": "import decimal, sqlite3, zoneinfo; import wire.media",
}


async def attempt(folder: Path, code: str) -> str:
    """Run code as a parser runs, in a folder with settings; return what it prints."""
    (folder / "parts").mkdir()
    for name in ("given.csv", "other.csv", ".env"):
        (folder / name).write_bytes(b"secret")
    output, _ = await run_program(BEGIN.format(attempt=code), str(folder), cwd=folder)
    return output.split(" ")[0]


async def run_program(
    program: str, *arguments: str, cwd: Path, stderr: IO[bytes] | None = None
) -> tuple[str, int | None]:
    """Run a program with the environment of a parser; return its output and its exit status."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", program, *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        env=ENVIRONMENT,
        cwd=cwd,
    )
    output, _ = await process.communicate()
    return output.decode().strip(), process.returncode


@pytest.mark.parametrize("name", REFUSED)
async def test_what_a_parser_may_not_do(tmp_path: Path, name: str) -> None:
    """Each attempt fails in the kernel, also as root."""
    assert await attempt(tmp_path, REFUSED[name]) == "refused"


@pytest.mark.parametrize("name", ALLOWED)
async def test_what_a_parser_may_do(tmp_path: Path, name: str) -> None:
    """What parsers need works."""
    assert await attempt(tmp_path, ALLOWED[name]) == "done"


LIMITED = """
import resource
from base.sandbox import ResourceLimits, report, set_limits
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
set_limits(ResourceLimits(2 << 30, 1024, 32, 60))
report("as long as the log is short")
print(resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize("log", [b"", b"x" * 2048], ids=["a short log", "a long log"])
async def test_limits_and_logs_of_the_system(tmp_path: Path, log: bytes) -> None:
    """A lower limit of the host stays; a log that is longer than a parser's files stops none."""
    path = tmp_path / "log"
    path.write_bytes(log)
    with path.open("ab") as stderr:
        ended = await run_program(LIMITED, cwd=tmp_path, stderr=stderr)
    assert ended == ("(30, 30) (32, 32)", 0)
    assert (b"as long as the log is short\n" in path.read_bytes()) is (log == b"")


COMPILED = """
import subprocess, sys
from base.sandbox import ENVIRONMENT, SOURCES
code = '''
from base.sandbox import restrict
restrict()
import xmlrpc.client
print(xmlrpc.client.__cached__)
with open(xmlrpc.client.__cached__, "rb") as file:
    print(len(file.read()) > 0)
'''
import xmlrpc.client
subprocess.run([sys.executable, "-P", "-c", code], env=ENVIRONMENT, check=True)
"""


def children() -> set[int]:
    """Return the processes that this one has started."""
    return {*map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())}


async def test_a_reader_of_files_waits_for_others(tmp_path: Path) -> None:
    """From its start on: an account may have hundreds of files inspected in a minute."""
    request = ReadRequest(str(tmp_path / "a.csv"), FileFormat("csv"), [], {}, None, "skip", 0)
    before = children()
    async with batches(request):
        started = children() - before
        assert [os.getpriority(os.PRIO_PROCESS, each) for each in started] == [NICENESS]


async def test_a_parser_reads_what_its_parent_has_compiled(tmp_path: Path) -> None:
    """An image has no compiled modules: they are in /tmp, which no parser may read otherwise."""
    environ = {"PYTHONPATH": str(SOURCES), "PYTHONPYCACHEPREFIX": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", COMPILED), stdout=asyncio.subprocess.PIPE, env=environ
    )
    output, _ = await process.communicate()
    path, is_readable = output.decode().split()
    assert path.startswith(str(tmp_path))
    assert is_readable == "True"


async def test_the_media_worker_has_the_limit_of_its_host(tmp_path: Path) -> None:
    """A job that may take longer than the host allows is not refused for that."""
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (5, 5));"
        "from engine.media.worker.main import limit_cpu; limit_cpu(60);"
        "print(resource.getrlimit(resource.RLIMIT_CPU))"
    )
    assert await run_program(program, cwd=tmp_path) == ("(5, 5)", 0)


async def test_a_job_has_all_of_its_cpu_time(tmp_path: Path) -> None:
    """Whatever part of a second the worker has used before; the limit is in whole ones."""
    program = (
        "import resource; from time import process_time;"
        "from engine.media.worker.main import limit_cpu;"
        "\nwhile process_time() % 1 < 0.5: pass\n"
        "limit_cpu(1); print(resource.getrlimit(resource.RLIMIT_CPU)[0] - process_time() >= 1)"
    )
    assert await run_program(program, cwd=tmp_path) == ("True", 0)


async def test_the_media_worker_is_restricted(tmp_path: Path) -> None:
    """It has none of the engine's environment, runs under the filter, and still decodes."""
    source, target = tmp_path / "a.mp3", tmp_path / "a.wav"
    source.write_bytes(sound("mp3"))
    worker = Worker(LIMITS, tmp_path)
    try:
        await worker.run(Transcode(str(source), "mp3", str(target), 20_000))
        proc = Path(f"/proc/{worker.pid}")
        status = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines())
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        names = {each.partition(b"=")[0] for each in (proc / "environ").read_bytes().split(b"\0")}
        assert names - {b""} == {name.encode() for name in ENVIRONMENT}
        assert target.stat().st_size
    finally:
        await worker.close()
