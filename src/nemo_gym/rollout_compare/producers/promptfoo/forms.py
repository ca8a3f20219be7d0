"""The forms that results come in, each as rows: a document, an older one with a table, lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nemo_gym.rollout_compare.files import Input, Piece, cannot_read, iter_blocks, reading
from nemo_gym.rollout_compare.producers.documents import parse_document, read_document
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, parse_object
from nemo_gym.rollout_compare.schema import CompareInputError, Fault

_HEAD_BYTES = 64 << 10
#: A result stands in a list, in an object, in another.
_AROUND = 3


def rows_of(source: Input, faults: list[Fault]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each result with its number, which is its line where results stand on lines; what is none is a fault.

    Raises:
        CompareInputError: The file cannot be read, or holds no results.
    """
    if _is_lines(source):
        yield from _rows_on_lines(source, faults)
        return
    try:
        document = parse_document(read_document(source), Any, _AROUND)
        rows = _results(document)
    except CompareInputError as error:
        raise cannot_read(source.path, error) from None
    for number, row in enumerate(rows, 1):
        if isinstance(row, Mapping):
            yield number, row
        else:
            faults.append(Fault(number, "expected a JSON object"))


def _is_lines(source: Input) -> bool:
    """Whether each line is a value: the first one is, and is no document by itself."""
    with reading(source) as (file, _):
        first = file.readline(_MOST_LINE)
        more = file.read(_HEAD_BYTES)
    try:
        row = parse_object(first.removeprefix(b"\xef\xbb\xbf"))
    except InvalidLine:
        return bool(more.strip()) and source.path.name.partition(".")[2].startswith("jsonl")
    return "results" not in row and "table" not in row and "body" not in row


_MOST_LINE = 1 << 30


def _rows_on_lines(source: Input, faults: list[Fault]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for block in iter_blocks(Piece(source)):
        last = len(block.lines) - 1
        for i, (number, line) in enumerate(zip(block.numbers, block.lines, strict=True)):
            try:
                row = parse_object(bytes(line))
            except InvalidLine as error:
                cut = ": the last line is cut off; the run may still be writing, or was killed"
                faults.append(Fault(number, str(error) + cut * (block.ends_unfinished and i == last)))
            else:
                yield number, row


def _results(document: Any) -> Sequence[Any]:
    """The results of a document: of the newer form, of the older one around a table, or of a table alone."""
    if not isinstance(document, Mapping):
        raise CompareInputError("it is no JSON object with promptfoo's results")
    inner = document.get("results")
    summary = inner if isinstance(inner, Mapping) else document
    rows = summary.get("results")
    table = summary.get("table", summary)
    body = table.get("body") if isinstance(table, Mapping) else None
    if isinstance(rows, list) and (rows or not body):
        return rows
    if isinstance(table, Mapping) and isinstance(body, list):
        return list(_rows_of_table(table))
    raise CompareInputError("it has neither results.results nor results.table.body: no result of promptfoo is in it")


def _rows_of_table(table: Mapping[str, Any]) -> Iterator[Any]:
    """The cells of a table: a row is a test, a column a prompt with a provider."""
    head = table.get("head")
    head = head if isinstance(head, Mapping) else {}
    names, prompts = _list(head.get("vars")), _list(head.get("prompts"))
    for number, row in enumerate(table["body"]):
        if not isinstance(row, Mapping) or not isinstance(row.get("outputs"), list):
            yield None
            continue
        values = _list(row.get("vars"))
        for column, cell in enumerate(row["outputs"]):
            prompt = prompts[column] if column < len(prompts) and isinstance(prompts[column], Mapping) else {}
            yield _row_of_cell(cell, row, dict(zip(map(str, names), values, strict=False)), prompt, number)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _row_of_cell(
    cell: Any, row: Mapping[str, Any], values: Mapping[str, Any], prompt: Mapping[str, Any], number: int
) -> Any:
    """A cell as a result of the newer form."""
    if not isinstance(cell, Mapping):
        return None
    test = row.get("test")
    test = dict(test) if isinstance(test, Mapping) else {}
    test.setdefault("description", row.get("description"))
    sent = cell.get("prompt")
    return {
        **cell,
        "testIdx": row.get("testIdx", number),
        "testCase": test,
        "vars": values or test.get("vars"),
        "prompt": {"raw": sent, "label": prompt.get("label") or prompt.get("display") or prompt.get("raw")},
        "promptId": cell.get("promptId") or prompt.get("id"),
        "provider": cell.get("provider") or prompt.get("provider"),
        "success": cell.get("pass"),
        "response": {"output": cell.get("text")},
    }
