"""The page in a real browser: what can be clicked and pressed, links, hostile data, and what it must never do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import axe_source, browser, console_of, requests_of
from tests.support import compare, write_rows

pytestmark = pytest.mark.slow

PHONE = (390, 844)

STEPS = [
    {"type": "function_call", "call_id": "a", "name": "bash", "arguments": '{"command": "ls"}'},
    {"type": "function_call_output", "call_id": "a", "output": "one\ntwo"},
]


def rollout(task: str, reward: float | None, output: str = "", *, then: str = "done", **more: Any) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": "b", "name": "bash", "arguments": json.dumps({"command": then})}
    return {
        "task_id": task,
        "reward": reward,
        "responses_create_params": {"input": f"Do {task}"},
        "response": {"output": [*STEPS, call]},
        **({"test_output": output} if output else {}),
        **more,
    }


ERROR = "E       ModuleNotFoundError: No module named 'numpy'\nFAILED test_a.py::test_one\n1 failed"
PASSED = "PASSED test_a.py::test_one\n1 passed"

#: 12 tasks: a, b and c lost for one cause, d won, e masked, f missing on the new side, the rest alike.
OLD = [
    *(rollout(task, 1.0, PASSED, then="pip install numpy") for task in "abc"),
    rollout("d", 0.0, ERROR),
    rollout("e", 1.0),
    rollout("f", 1.0),
    *(rollout(task, 1.0) for task in "ghijkl"),
]
NEW = [
    *(rollout(task, 0.0, ERROR, then="python solve.py") for task in "abc"),
    rollout("d", 1.0, PASSED),
    rollout("e", None),
    *(rollout(task, 1.0) for task in "ghijkl"),
]


def page_of(folder: Path, old: list[dict[str, Any]], new: list[dict[str, Any]], *options: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "page.html"
    sides = [write_rows(folder / f"{side}.jsonl", rows) for side, rows in (("old", old), ("new", new))]
    done = compare(*sides, "--html", page, *options)
    assert (done.status, done.stderr) == (0, "")
    return page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of(tmp_path_factory.mktemp("page"), OLD, NEW)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile"), *PHONE, dark=True) as driver:
        yield driver


def opened(driver: Any, page: Path, link: str = "") -> Any:
    """The page in the browser, with nothing left of another one."""
    driver.get("about:blank")
    console_of(driver)
    requests_of(driver)
    driver.get(f"{page.as_uri()}{link}")
    return driver


def all_of(driver: Any, selector: str) -> list[Any]:
    found: list[Any] = driver.find_elements("css selector", selector)
    return found


def text_of(driver: Any, selector: str) -> str:
    return " ".join(str(driver.find_element("css selector", selector).text).split())


def listed(driver: Any) -> list[str]:
    return [row.text for row in all_of(driver, ".tr .task")]


def groups(driver: Any) -> list[str]:
    return [row.text for row in all_of(driver, ".group")]


def press(driver: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(driver).send_keys(*keys).perform()


def link_of(driver: Any) -> str:
    return str(driver.execute_script("return location.hash"))


def test_the_decision_stands_first_and_the_first_loss_is_open(driver: Any, page: Path) -> None:
    opened(driver, page)
    assert text_of(driver, "h1") == "Cannot tell: 90% to 70% (-20 points, p = 0.38)"
    assert text_of(driver, ".fate") == "3 lost, 1 won, 1 masked, 1 missing"
    assert text_of(driver, "#title") == "a"
    assert text_of(driver, "#task .cause") == "ModuleNotFoundError: No module named 'numpy', as in 3 other tasks"
    assert groups(driver)[0] == "3 lost, 1 won: ModuleNotFoundError: No module named 'numpy'"
    assert driver.find_element("css selector", "#tasks").rect["y"] < 600


def test_a_flip_shows_both_sides_and_where_they_parted(driver: Any, page: Path) -> None:
    opened(driver, page, "#task=b")
    sides = [pre.text for pre in all_of(driver, ".two pre")]
    assert sides == [PASSED, ERROR]
    assert all_of(driver, "mark")[0].text.strip() == ERROR.splitlines()[0]
    assert text_of(driver, ".tests") == "✕ test_a.py::test_one"
    headings = [heading.text for heading in all_of(driver, "#task h3")]
    assert headings[-1] == "What the agents did: parted at step 2 of 2 and 2"
    parting = driver.execute_script(
        "const part = document.getElementById('parting');"
        "return [part.nextSibling, part.nextSibling.nextSibling, part.nextSibling.nextSibling.nextSibling]"
        ".map((one) => one.innerText)"
    )
    assert parting[0] == "2"
    assert "pip install numpy" in parting[1]
    assert "python solve.py" in parting[2]


def test_errors_of_one_form_are_gathered_as_that_and_after_what_one_side_suffers(driver: Any, tmp_path: Path) -> None:
    losing = {"a": "E   assert 1 == 2", "b": "E   assert 3 == 4", "c": "KeyError: 'x'", "d": "KeyError: 'x'"}
    old, new = (
        [
            {"task_id": task, "reward": float(won), "test_output": "1 passed" if won else output}
            for task, output in losing.items()
            for won in [(task != "b") is (side == "old")]
        ]
        for side in ("old", "new")
    )
    opened(driver, page_of(tmp_path, old, new))
    assert groups(driver) == ["2 lost: KeyError: 'x'", "1 lost, 1 won: same form of error: assert <n> == <n>"]
    opened(driver, page_of(tmp_path, old, new), "#task=a")
    assert text_of(driver, "#task .cause") == "same form of error: assert <n> == <n>, as in 1 other task"


def test_filters_narrow_the_list_and_stand_in_the_link(driver: Any, page: Path) -> None:
    opened(driver, page)
    driver.find_element("css selector", "[data-fate=masked]").click()
    driver.find_element("css selector", "[data-fate=missing]").click()
    assert listed(driver) == ["e", "f"]
    assert text_of(driver, "#found") == "2 of 12 tasks"
    assert link_of(driver) == "#show=masked%2Cmissing&task=a"
    assert [chip.get_attribute("aria-pressed") for chip in all_of(driver, ".chips button")] == [
        "false", "false", "true", "true", "false",
    ]  # fmt: skip
    opened(driver, page, "#show=won")
    assert listed(driver) == ["d"]
    opened(driver, page, "#only=cause%3A0&sort=task&task=c")
    assert listed(driver) == ["a", "b", "c", "d"]
    assert text_of(driver, "#title") == "c"


def test_the_search_finds_labels_errors_and_tests(driver: Any, page: Path) -> None:
    opened(driver, page)
    search = driver.find_element("css selector", "input[type=search]")
    for words, found in (("numpy", ["a", "b", "c", "d"]), ("numpy won", ["d"]), ("no reward", ["e"]), ("zzz", [])):
        search.clear()
        search.send_keys(words)
        assert listed(driver) == found, words
    assert text_of(driver, ".none") == "No task matches. Show all"
    driver.find_element("css selector", ".none button").click()
    assert len(listed(driver)) == 12


def test_selects_sort_and_narrow(driver: Any, page: Path) -> None:
    from selenium.webdriver.support.ui import Select

    opened(driver, page)
    only, sort = (Select(element) for element in all_of(driver, ".tools select"))
    sort.select_by_value("change")
    assert listed(driver)[:4] == ["a", "b", "c", "d"]
    sort.select_by_value("old")
    assert listed(driver)[0] == "d"
    only.select_by_value("side:missing-old")
    assert listed(driver) == ["f"]
    assert link_of(driver) == "#only=side%3Amissing-old&sort=old&task=a"


def test_keys_go_through_the_list(driver: Any, page: Path) -> None:
    from selenium.webdriver import Keys

    opened(driver, page)
    press(driver, "j", "j")
    assert text_of(driver, "#title") == "c"
    press(driver, "k")
    assert text_of(driver, "#title") == "b"
    press(driver, Keys.ENTER)
    assert driver.switch_to.active_element.get_attribute("id") == "title"
    press(driver, Keys.ESCAPE)
    assert driver.switch_to.active_element.text == "b"
    press(driver, "/", "x")
    assert driver.switch_to.active_element.get_attribute("value") == "x"
    assert listed(driver) == []
    press(driver, Keys.ESCAPE)
    assert len(listed(driver)) == 12
    press(driver, "masked", Keys.ENTER)
    assert text_of(driver, "#title") == "e"
    press(driver, "?")
    assert driver.execute_script("return document.getElementById('help').open")
    driver.find_element("css selector", "#help button").click()
    assert not driver.execute_script("return document.getElementById('help').open")


def test_back_leads_to_the_task_before(driver: Any, page: Path) -> None:
    opened(driver, page, "#task=a")
    all_of(driver, ".tr a")[1].click()
    assert text_of(driver, "#title") == "b"
    driver.back()
    assert text_of(driver, "#title") == "a"


def test_a_phone_shows_the_list_or_a_task(phone: Any, page: Path) -> None:
    opened(phone, page)
    assert not phone.find_element("id", "task").is_displayed()
    assert phone.find_element("css selector", "h1").rect["y"] < 40
    assert phone.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    all_of(phone, ".tr a")[0].click()
    assert phone.find_element("id", "title").is_displayed()
    assert not phone.find_element("id", "tasks").is_displayed()
    assert all_of(phone, ".two pre")[1].rect["y"] < all_of(phone, ".two pre")[0].rect["y"], "what failed comes first"
    assert phone.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    all_of(phone, ".back button")[2].click()
    assert text_of(phone, "#title") == "b"
    all_of(phone, ".back button")[0].click()
    assert phone.find_element("id", "tasks").is_displayed()
    assert console_of(phone) == []


def test_the_page_asks_for_nothing_and_says_nothing(driver: Any, page: Path) -> None:
    opened(driver, page)
    press(driver, "j", "j", "/", "a")
    assert console_of(driver) == []
    assert requests_of(driver) == [page.as_uri()]


def test_nothing_but_the_page_s_own_script_and_style_works(driver: Any, page: Path) -> None:
    """A second script, a style, an image and a request are refused; the policy says by which rule."""
    opened(driver, page)
    attempts = driver.execute_async_script(
        "const done = arguments[0]; const told = [];"
        "document.addEventListener('securitypolicyviolation', (event) => told.push(event.effectiveDirective));"
        "const make = (tag, set) => { const one = document.createElement(tag);"
        " try { set(one); } catch (error) { told.push(error.name); return; } document.body.append(one); };"
        "make('script', (one) => { one.textContent = 'window.ran = 1'; });"
        "make('div', (one) => { one.innerHTML = '<b>1</b>'; });"
        "make('style', (one) => { one.textContent = 'body { color: red }'; });"
        "make('img', (one) => { one.src = 'https://example.invalid/x.png'; });"
        "make('iframe', (one) => { one.src = 'https://example.invalid/'; });"
        "fetch('https://example.invalid/').catch(() => told.push('fetch'))"
        ".finally(() => setTimeout(() => done([told, window.ran === 1]), 300));"
    )
    told, ran = attempts
    assert not ran
    assert {"TypeError", "style-src-elem", "img-src", "frame-src", "connect-src", "fetch"} <= set(told)
    assert requests_of(driver) == [page.as_uri()]


HOSTILE = [
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 1</script>",
    "<!--<script>",
    "]]>--><img src=x onerror='window.ran = 1'>",
    "javascript:window.ran=1",
    '" onmouseover="window.ran=1" x="',
    "' autofocus onfocus='window.ran=1",
    "{{script}}{{data}}",
    "\u202eevil\u2066",
    "\u2028\u2029line ends",
    "lone \ud800 surrogate",
    "\x1b[31mred\x07\x00",
    "__proto__",
    "constructor",
    "&lt;b&gt; &amp;",
    "%00%ff#task=a&q=b",
    "x" * 2_000_000,
    "",
    " ",
]


def test_hostile_data_is_shown_and_does_nothing(driver: Any, tmp_path: Path) -> None:
    text = "\n".join(HOSTILE).replace("x" * 2_000_000, "x" * 30_000)
    more = {"error": HOSTILE[0], "failure_kind": HOSTILE[3]}
    old = [
        rollout(f"{task}{number}", 1.0, f"PASSED {task[:400]}\n{text}", then=text)
        for number, task in enumerate(HOSTILE)
    ]
    new = [
        rollout(f"{task}{number}", 0.0, f"FAILED {task[:400]}\n{text}", **more) for number, task in enumerate(HOSTILE)
    ]
    page = page_of(tmp_path / "<script>alert(1)<", old, new)
    opened(driver, page)
    seen = set()
    for _ in HOSTILE:
        seen.add(driver.find_element("id", "title").text)
        press(driver, "j")
    assert len(seen) == len(HOSTILE)
    assert any("<script>window.ran = 1</script>" in label for label in seen)
    assert any("\\u202eevil" in label for label in seen)
    assert not driver.execute_script("return window.ran === 1")
    assert len(all_of(driver, "script")) == 2
    assert all_of(driver, "img, iframe, a[href^=javascript]") == []
    assert console_of(driver) == []
    assert requests_of(driver) == [page.as_uri()]
    for label in ("constructor13", "__proto__12"):
        opened(driver, page, f"#task={label}")
        assert text_of(driver, "#title") == label


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_source(tmp_path_factory.mktemp("axe"))


def violations(window: Any, axe: str) -> list[Any]:
    window.execute_script(axe)
    found = window.execute_async_script("axe.run(document).then(arguments[0])")
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found["violations"]]


@pytest.mark.parametrize("link", ["", "#task=e", "#task=a&show=lost"])
def test_an_accessibility_checker_finds_nothing(driver: Any, phone: Any, page: Path, link: str, axe: str) -> None:
    for window in (driver, phone):
        opened(window, page, link)
        assert violations(window, axe) == []


#: 130 tasks of three levels, each of a kind of its own; those that flip were run with other limits.
LEVELS = ["easy", "hard", "</option>"]


def of_groups(side: str) -> list[dict[str, Any]]:
    def asked(number: int) -> dict[str, Any]:
        told = {"temperature": 1.0 if side == "old" else 0.5, "max_output_tokens": 100 if side == "old" else 50}
        return {"model": "m"} | (told if number < 3 else {"temperature": told["temperature"]})

    return [
        {
            "task_id": f"t{number:03d}",
            "reward": float(side == "old" or number > 4),
            "level": LEVELS[number % 3],
            "kind": f"k{number:03d}",
            "responses_create_params": {"input": "x", **asked(number)},
        }
        for number in range(130)
    ]


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grouped")
    return page_of(folder, of_groups("old"), of_groups("new"), "--by", "level", "--by", "kind")


def group_options(driver: Any) -> dict[str, list[str]]:
    fields = all_of(driver, "select[aria-label=Group] optgroup")
    return {
        field.get_attribute("label"): [option.text.strip() for option in field.find_elements("css selector", "option")]
        for field in fields
    }


def test_groups_narrow_the_list_beside_the_other_controls(driver: Any, grouped: Path) -> None:
    """A field of many values names 100 of them, and all others together."""
    from selenium.webdriver.support.ui import Select

    opened(driver, grouped)
    options = group_options(driver)
    assert options["level"] == ["easy (44)", "</option> (43)", "hard (43)"]
    assert options["kind"] == [*(f"k{number:03d} (1)" for number in range(100)), "30 others (30)"]
    chosen = Select(driver.find_element("css selector", "select[aria-label=Group]"))
    chosen.select_by_value("level:hard")
    assert text_of(driver, "#found") == "43 of 130 tasks"
    driver.find_element("css selector", "[data-fate=lost]").click()
    assert listed(driver) == ["t001", "t004"]
    assert link_of(driver) == "#show=lost&in=level%3Ahard&task=t000"
    chosen.select_by_value("kind")
    assert text_of(driver, ".none") == "No task matches. Show all"
    driver.find_element("css selector", ".none button").click()
    assert text_of(driver, "#found") == "130 tasks"
    opened(driver, grouped, "#in=level%3A%3C%2Foption%3E&show=lost")
    assert listed(driver) == ["t002"]
    assert Select(
        driver.find_element("css selector", "select[aria-label=Group]")
    ).first_selected_option.text.strip() == ("</option> (43)")
    opened(driver, grouped, "#in=level%3Aconstructor")
    assert text_of(driver, "#found") == "130 tasks"
    assert console_of(driver) == []


def test_groups_are_reached_and_changed_by_keys(driver: Any, grouped: Path) -> None:
    from selenium.webdriver import Keys

    opened(driver, grouped, "#task=t001")
    press(driver, "/")
    for _ in range(3):  # past the chips of what is lost and what is identical
        press(driver, Keys.TAB)
    assert driver.switch_to.active_element.get_attribute("aria-label") == "Group"
    press(driver, "h")
    assert link_of(driver) == "#in=level%3Ahard&task=t001"
    press(driver, Keys.ESCAPE, "j")
    assert text_of(driver, "#title") == "t004"


def test_a_task_says_its_groups_and_a_flip_the_settings_that_differ(driver: Any, grouped: Path) -> None:
    def settings() -> list[str]:
        return [text.text for text in all_of(driver, "#task .pairs > *")]

    opened(driver, grouped, "#task=t001")
    assert text_of(driver, ".groups") == "level: hard, kind: k001"
    assert settings() == ["temperature", "1.0 to 0.5", "max_output_tokens", "100 to 50"]
    press(driver, "jjj")
    assert text_of(driver, "#title") == "t004"
    assert settings() == ["temperature", "1.0 to 0.5"]
    opened(driver, grouped, "#task=t100")
    assert settings() == [], "no flip"


def test_a_page_without_groups_has_no_such_control(driver: Any, page: Path) -> None:
    opened(driver, page)
    assert len(all_of(driver, ".tools select")) == 2
    assert all_of(driver, ".groups") == []


def test_an_accessibility_checker_finds_nothing_in_groups(driver: Any, phone: Any, grouped: Path, axe: str) -> None:
    for window in (driver, phone):
        for link in ("", "#task=t001&in=level%3Ahard"):
            opened(window, grouped, link)
            assert violations(window, axe) == []


def test_long_labels_are_cut_before_their_ends(driver: Any, phone: Any, tmp_path: Path) -> None:
    """Labels that differ in their ends alone are told apart in the list; whoever listens hears all of each."""
    labels = [f"a-benchmark-of-long-names/family-of-tasks/instance-{number}" for number in (1234, 1235)]
    page = page_of(tmp_path, [rollout(label, 1.0) for label in labels], [rollout(label, 0.0) for label in labels])
    for window in (driver, phone):
        opened(window, page)
        ends = all_of(window, ".tr .end")
        assert [end.text for end in ends] == ["ance-1234", "ance-1235"]
        room = window.find_element("css selector", ".tr .task").rect
        assert all(end.rect["x"] + end.rect["width"] <= room["x"] + room["width"] + 1 for end in ends)
        assert [link.get_attribute("aria-label") for link in all_of(window, ".tr a")] == labels


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (-0.0145, "\u22121.5"),
        (0.0625, "+6.2"),
        (0.1875, "+18.8"),
        (0.0004, "+0.04"),
        (0.5, "+50"),
        (-1 / 3, "\u221233.3"),
        (0, "0"),
    ],
)
def test_digits_are_those_of_the_report(driver: Any, page: Path, value: float, shown: str) -> None:
    """Halves are rounded to even where they are exact, as in Python."""
    opened(driver, page)
    assert driver.execute_script("return percent(arguments[0], true)", value) == shown
    assert driver.execute_script("return rounded(arguments[0], 3)", abs(value)) == f"{abs(value):.3f}"


def test_a_phone_leads_past_the_figures(phone: Any, page: Path) -> None:
    opened(phone, page)
    phone.find_element("css selector", ".jump button").click()
    assert phone.execute_script("return Math.round(byId('tasks').getBoundingClientRect().top)") < 100


def test_10_000_tasks_are_usable_at_once(driver: Any, tmp_path: Path) -> None:
    """After 2 seconds of work the list is there; a search takes a fraction of one, and few rows exist at a time."""
    old = [{"task_id": f"task-{i}", "reward": 1.0} for i in range(10_000)]
    new = [{"task_id": f"task-{i}", "reward": float(i % 9 > 0)} for i in range(10_000)]
    page = page_of(tmp_path, old, new)
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})  # work, whatever else is running
    opened(driver, page)
    assert 10 < len(listed(driver)) < 80
    measured = {one["name"]: one["value"] for one in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    assert 0 < measured["TaskDuration"] < 2
    took = driver.execute_script(
        "const search = document.querySelector('input[type=search]'); search.value = 'task-99';"
        "const begun = performance.now(); search.dispatchEvent(new Event('input')); return performance.now() - begun"
    )
    assert took < 1000
    assert text_of(driver, "#found") == "111 of 10,000 tasks"  # 99, 990 to 999, 9900 to 9999
    frames = driver.execute_async_script(
        "const done = arguments[0]; const scroll = document.querySelector('.scroll'); const times = [];"
        "document.querySelector('input[type=search]').value = '';"
        "document.querySelector('input[type=search]').dispatchEvent(new Event('input'));"
        "let last = performance.now(); let step = 0;"
        "const next = () => { const now = performance.now(); times.push(now - last); last = now;"
        " scroll.scrollTop += 900; step += 1; if (step < 60) requestAnimationFrame(next); else done(times); };"
        "requestAnimationFrame(next);"
    )
    assert sorted(frames)[len(frames) // 2] < 100, "half of the frames come at least 10 times a second under load"
    assert len(all_of(driver, ".tr")) < 80
