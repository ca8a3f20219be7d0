"""Make the corpus of real failing outputs again: run each recipe, keep what it printed, and split it by a hash.

    python make.py RECIPES... --tools FOLDER [--only WORD]

`FOLDER` holds `pv`, a Python environment with pytest, pytest-timeout, pytest-xdist, requests and uv, and `js`, a
folder in which jest, vitest, mocha and typescript are installed. The cause of each output is the heading of its recipe:
it is written down before anything is computed. Outputs are shortened in the middle, and hosts of package indexes are
given made-up names; nothing else is changed.
"""

import argparse
import hashlib
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from places import PLACES

HERE = Path(__file__).parent
FIRST_LINES, LAST_LINES, WIDTH = 25, 60, 400
_HOSTS = (
    (re.compile(r"registry\.npmjs\.org|registry\.yarnpkg\.com"), "registry.example"),
    (re.compile(r"(?:deb|security|snapshot)\.debian\.org"), "mirror.example"),
    (
        re.compile(r"(?:files\.)?pythonhosted\.org|pypi\.org|proxy\.golang\.org|repo\.maven\.apache\.org"),
        "index.example",
    ),
)


def cases(text: str) -> Iterator[tuple[str, str, str]]:
    """Each case of a recipe file: cause, place, shell script; or the text itself where it is `documented`."""
    for block in re.split(r"^@(?=(?!documented)[a-z]* )", text, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        kind, _, cause = head.partition(" ")
        if kind:
            yield from ((cause, how, script) for how, script in PLACES[kind](cause, body))
            continue
        for case in re.split(r"^= ", body, flags=re.MULTILINE)[1:]:
            how, _, script = case.partition("\n")
            yield cause, how, script


class Answer(BaseHTTPRequestHandler):
    """Answers with the status that the path begins with."""

    def do_GET(self) -> None:
        first = self.path.split("/")[1]
        self.send_response(int(first) if first.isdigit() else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def serve(folder: Path) -> dict[str, str]:
    """Start a server of plain HTTP and one whose certificate nobody trusts."""
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "99"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, "-keyout", "key.pem", "-out", "c.pem"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    plain, secure = (ThreadingHTTPServer(("127.0.0.1", 0), Answer) for _ in range(2))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "c.pem", folder / "key.pem")
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    for server in (plain, secure):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"HTTP": f"http://127.0.0.1:{plain.server_port}", "HTTPS": f"https://localhost:{secure.server_port}"}


def run(script: str, number: int, environment: dict[str, str]) -> str:
    """What a script prints, on both streams."""
    with tempfile.TemporaryDirectory(prefix=("app-", "task_", "w", "solution.")[number % 4]) as folder:
        Path(folder).chmod(0o755)
        env = {**os.environ, **environment, "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        try:
            done = subprocess.run(
                ["bash", "-c", f"ulimit -c 0\n{script.replace('WHEREN', str(number % 90 + 7))}"],
                cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=120, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ""
        return (
            "" if done.returncode == 0 and "exit" not in script else shortened(done.stdout.decode("utf-8", "replace"))
        )


def shortened(output: str) -> str:
    """The output without what is long in its middle, and with made-up names for package indexes."""
    for pattern, name in _HOSTS:
        output = pattern.sub(name, output)
    lines = [line if len(line) <= WIDTH else line[:WIDTH] + "..." for line in output.split("\n")]
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out > 0:
        lines[FIRST_LINES : FIRST_LINES + left_out] = [f"[... {left_out} lines left out ...]"]
    return "\n".join(lines)


def main() -> None:
    """Run all recipes, or those whose cause or place holds a word."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="+", type=Path)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--into", type=Path, default=HERE)
    args = parser.parse_args()
    found = [case for recipe in args.recipes for case in cases(recipe.read_text())]
    found = [case for case in found if args.only in f"{case[0]} / {case[1]}"]
    with tempfile.TemporaryDirectory() as folder:
        python = args.tools / "pv" / "bin"
        environment = serve(Path(folder)) | {
            "PY": str(python / "python"), "NO_COLOR": "1", "NODE_PATH": str(args.tools / "js" / "node_modules"),
            "PATH": f"{python}:{args.tools / 'js' / 'node_modules' / '.bin'}:{os.environ['PATH']}",
            "JS": str(args.tools / "js"), "PYTHONDONTWRITEBYTECODE": "1", "GOFLAGS": "-mod=mod", "GOPROXY": "off",
        }  # fmt: skip

        def output(case: tuple[str, str, str]) -> str:
            number = int(hashlib.sha256("/".join(case[:2]).encode()).hexdigest()[-6:], 16)
            if case[2].startswith("@documented "):
                return case[2].removeprefix("@documented ").strip().replace("\\n", "\n")
            return run(case[2], number, environment)

        with ThreadPoolExecutor(args.jobs) as pool:
            outputs = list(pool.map(output, found))
    halves: dict[str, list[str]] = {"seen": [], "unseen": []}
    for (cause, how, _), text in zip(found, outputs, strict=True):
        if text.strip():
            half = "seen" if hashlib.sha256(f"{cause}/{how}".encode()).digest()[0] < 128 else "unseen"
            halves[half].append(json.dumps({"cause": cause, "how": how, "output": text}))
        else:
            print("not kept:", cause, "/", how)
    for half, lines in halves.items():
        (args.into / f"{half}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        print(half, len(lines))


if __name__ == "__main__":
    main()
