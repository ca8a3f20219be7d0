"""Made-up pieces of transcripts: text as terminals, programs and models write it, with escapes and non-ASCII.

Pieces are JSON already, so that a row is made by joining some of them.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

_TEXT = """
parser socket kernel buffer commit branch schema matrix vector thread worker config table index cache token
Überstunden naïve Größe résumé façade πολιτική поиск задача 日本語 数据 데이터 🚀 ✓ “quoted” œuvre Ελλάδα ≤ ∅
the a of to in and is not with for from every file line test that fails because before after
"""
WORDS = _TEXT.split()

#: Lines of a terminal. `{w}` is a word, `{n}` a number.
TERMINAL_LINES = (
    "\x1b[32mPASSED\x1b[0m tests/test_{w}.py::test_{w} [{n}%]",
    "\x1b[31mFAILED\x1b[0m tests/test_{w}.py::test_{w} - AssertionError: assert '{w}' == \"{w}\"",
    "-rw-r--r-- 1 root root {n} Mar  3 12:{n} {w}.json",
    'Traceback (most recent call last):\n  File "/app/{w}.py", line {n}, in <module>\n    main()',
    "ValueError: invalid literal for int() with base 10: '{w}'",
    "C:\\build\\{w}\\{n}.obj : warning C{n}: unreferenced '{w}'",
    '{{"name": "{w}", "value": {n}, "path": "/data/{w}/{n}"}}',
    "progress: {n}/100\rprogress: {n}/100\r\tdone in 0.{n}s",
    "{n}\t{w}\t{w}\t{n}.{n}\t{w} {w}",
)

SOURCE_LINES = (
    "def {w}_{n}(values: list[int]) -> dict[str, int]:",
    '    """Give the {w} of the {w}, at most {n}."""',
    '    print(f"{w}: {{len(values)}} of {n}\\n", file=sys.stderr)',
    "    return {{'{w}': {n}, \"{w}\": len(values) // {n}}}",
    '    if not re.match(r\'^\\w+\\s*=\\s*"[^"]*"$\', line):  # {w}',
    "        raise ValueError('{w} {w}')",
    "",
)


def sentence(rng: Random, words: int = 16) -> str:
    """A sentence of the given length."""
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def text(rng: Random, lines: tuple[str, ...], count: int) -> str:
    """Some of the lines, filled in."""
    chosen = rng.choices(lines, k=count)
    return "\n".join(line.format(w=rng.choice(WORDS), n=rng.randint(10, 9999)) for line in chosen)


def encoded(value: Any, rng: Random) -> bytes:
    r"""A value as JSON; half of the producers write `\u00fc` where the others write `ü`."""
    return json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=(",", ":")).encode()


def turn(rng: Random) -> bytes:
    """What one step of an agent adds to `response.output`, without the brackets: about 5,800 bytes."""
    call_id = f"call_{rng.getrandbits(64):016x}"
    script = f"cat > /app/{rng.choice(WORDS)}.py <<'PY'\n{text(rng, SOURCE_LINES, 24)}\nPY"
    arguments = json.dumps({"command": script, "timeout_s": rng.randint(10, 600)})
    output = text(rng, TERMINAL_LINES, 40)
    thought = {"type": "summary_text", "text": " ".join(sentence(rng) for _ in range(5))}
    items = [
        {"type": "reasoning", "id": f"rs_{call_id}", "summary": [thought], "encrypted_content": None},
        {"type": "function_call", "call_id": call_id, "name": "bash", "arguments": arguments, "status": "completed"},
        {"type": "function_call_output", "call_id": call_id, "output": output},
    ]
    return encoded(items, rng)[1:-1]


def message(rng: Random) -> bytes:
    """The message that ends a transcript."""
    part = {"type": "output_text", "text": "\n\n".join(sentence(rng) for _ in range(4)), "annotations": []}
    return encoded({"type": "message", "role": "assistant", "status": "completed", "content": [part]}, rng)


def instruction(rng: Random) -> bytes:
    """A task's instruction, as a JSON string."""
    return encoded("\n".join(sentence(rng, 24) for _ in range(6)), rng)


def verifier_output(rng: Random) -> bytes:
    """What a verifier printed, as a JSON string."""
    return encoded(text(rng, TERMINAL_LINES, 20), rng)
