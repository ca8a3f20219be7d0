"""What can be written to a file beside the report: a renderer for each option that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nemo_gym.rollout_compare.report.terminal.text import Shown
from nemo_gym.rollout_compare.schema import CompareResult
from nemo_gym.rollout_compare.text import MB

#: Lines without their ends, or a whole file.
Rendered = Iterable[str] | bytes

Renderer = Callable[[CompareResult, Shown], Rendered]


def _json_summary(result: CompareResult, _shown: Shown) -> Rendered:
    from nemo_gym.rollout_compare.report.summary import summary_dict, summary_lines

    return summary_lines(summary_dict(result))


def _page(result: CompareResult, shown: Shown) -> Rendered:
    from nemo_gym.rollout_compare.report.html.page import page

    return page(result, shown.title, shown.html_limit * MB)


def _markdown(result: CompareResult, shown: Shown) -> Rendered:
    from nemo_gym.rollout_compare.report.markdown import markdown_lines

    return markdown_lines(result, shown.title)


def _junit(result: CompareResult, shown: Shown) -> Rendered:
    from nemo_gym.rollout_compare.report.junit import junit_lines

    return junit_lines(result, shown.title)


def _table(result: CompareResult, shown: Shown) -> Rendered:
    from nemo_gym.rollout_compare.report.frames import table_of

    return table_of(result, shown.table)


def _rerun(result: CompareResult, _shown: Shown) -> Rendered:
    from nemo_gym.rollout_compare.report.rerun import tasks_to_rerun

    return tasks_to_rerun(result)


#: By the name of the option that says where to write. They are written in this order.
RENDERERS: dict[str, Renderer] = {
    "json_output": _json_summary,
    "html": _page,
    "markdown": _markdown,
    "junit": _junit,
    "table": _table,
    "rerun": _rerun,
}
