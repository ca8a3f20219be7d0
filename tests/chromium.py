"""A real browser for tests of the page: Debian's Chromium, without a network, and what it says while it runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

#: Set where a missing browser is a failure.
REQUIRED = "BROWSER_TESTS"


def missing(what: str) -> NoReturn:
    """Skip with a word, or fail where browser tests are required."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"{what} is needed, because {REQUIRED} is set")
    pytest.skip(f"{what} is not installed")


@contextmanager
def browser(profile: Path, width: int = 1280, height: int = 800, *, dark: bool = False) -> Iterator[Any]:
    """A browser window of a size; its console and its requests are kept."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        missing("Chromium")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        missing("selenium")

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}", scheme):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    try:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        yield driver
    finally:
        driver.quit()


def console_of(driver: Any) -> list[str]:
    """What the browser's console said since it was last asked."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests_of(driver: Any) -> list[str]:
    """What was requested since it was last asked and not refused by the page's own policy."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    refused = {
        event["params"]["requestId"]
        for event in events
        if event["method"] == "Network.loadingFailed" and event["params"].get("blockedReason") == "csp"
    }
    asked = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    urls = [one["request"]["url"] for one in asked if one["requestId"] not in refused]
    return [url for url in urls if not url.startswith(("data:", "about:"))]  # the browser's own pictures


def axe_source(folder: Path) -> str:
    """The accessibility checker's script, from npm's package of it."""
    if not shutil.which("npm"):
        missing("npm")
    done = subprocess.run(
        ["npm", "pack", "--silent", "axe-core@4"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        missing("axe-core")
    with tarfile.open(folder / done.stdout.split()[-1]) as package:
        member = package.extractfile("package/axe.min.js")
        assert member
        return member.read().decode("utf-8")
