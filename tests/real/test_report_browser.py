"""A report in a real browser: it draws what the ledger has, complains of nothing, and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from submitter.ledger import Ledger
from tests.support.browser import NARROW, SEEN_S, WIDE, Heard, chromium, listened, new_context, until
from tests.support.cli import npurun
from tests.support.processes import wait_for
from tests.support.trained import trained_run

pytestmark = [pytest.mark.real, pytest.mark.timeout(90)]

ATTACK = "<img src=x onerror=\"document.title='taken'\">"
RUN = "r"
REWARD = "critic/rewards/mean"
DRAWN = "[...document.querySelectorAll('.chart canvas')].filter(one => one.getClientRects().length).length"
INK = """name => {
  const canvas = document.querySelector(`figure[data-name="${name}"] canvas`);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((value, place) => place % 4 === 3 && value > 0).length;
}"""
"""How many pixels of a chart are drawn on."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("report")
    ledger = Ledger(home / "npurun")
    run = trained_run(ledger, RUN, steps=300, attempts=4, state="failed")
    ledger.record_steps(RUN, run.parts[-1].attempt, [(301, run.now_ms, {ATTACK: 1.0})])
    ledger.close()
    for language in ("en", "zh"):
        done = npurun("report", RUN, "-o", str(home / f"{language}.html"), "--lang", language, home=home)
        assert done.code == 0, done.err
    return home


def opened(browser: Browser, file: Path, **how: Any) -> tuple[Page, Heard]:
    page = new_context(browser, **how).new_page()
    heard = listened(page)
    page.goto(file.as_uri())
    until(page, f"{DRAWN} >= 2", "the curves in sight")
    return page, heard


def assert_closed(page: Page, heard: Heard, file: Path) -> None:
    assert heard.complaints == []
    assert [url for url in heard.asked if not url.startswith("data:")] == [file.as_uri()]
    assert page.title() == f"{RUN} · npurun"


@pytest.mark.parametrize(
    ("language", "dark", "size"), [("en", False, WIDE), ("zh", True, NARROW)], ids=["en-light-wide", "zh-dark-narrow"]
)
def test_every_chart_is_drawn_and_nobody_is_asked(
    browser: Browser, home: Path, language: str, dark: bool, size: dict[str, int]
) -> None:
    file = home / f"{language}.html"
    page, heard = opened(browser, file, dark=dark, size=size)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    count = page.locator(".chart").count()
    for figure in page.locator(".chart").all():
        figure.scroll_into_view_if_needed()
    until(page, f"{DRAWN} === {count}", "all charts")
    assert page.evaluate(INK, REWARD) > 200
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.get_by_text(ATTACK).count() > 0
    assert_closed(page, heard, file)
    page.context.close()


def test_numbers_shown_are_the_ledgers(browser: Browser, home: Path) -> None:
    page, heard = opened(browser, home / "en.html")
    ledger = Ledger(home / "npurun")
    rows = {row.step: row.metrics for row in ledger.steps(RUN)}  # of a step that is there twice, the later attempt's
    ledger.close()
    read = page.locator(f'figure[data-name="{REWARD}"] .read')
    assert float(read.inner_text()) == pytest.approx(rows[300][REWARD], rel=1e-4)
    step, value = read_at(page, REWARD, 0.5)
    assert 140 <= step <= 160
    assert value == pytest.approx(rows[step][REWARD], rel=1e-4)
    assert_closed(page, heard, home / "en.html")
    page.context.close()


def test_dragging_over_one_chart_zooms_all_and_a_double_click_shows_the_whole_run(browser: Browser, home: Path) -> None:
    page, heard = opened(browser, home / "en.html")
    over = page.locator(f'figure[data-name="{REWARD}"] .u-over')
    box = over.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.25 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=4)
    page.mouse.up()
    first, last = (read_at(page, "actor/entropy", share)[0] for share in (0.01, 0.99))
    assert 70 <= first <= 82 and 143 <= last <= 156
    over.dblclick()
    first, last = (read_at(page, "actor/entropy", share)[0] for share in (0.01, 0.99))
    assert first <= 5 and last >= 296
    assert_closed(page, heard, home / "en.html")
    page.context.close()


def read_at(page: Page, name: str, share: float) -> tuple[int, float]:
    """Step and value that a chart says where the mouse is, at this share of its width."""
    figure = page.locator(f'figure[data-name="{name}"]')
    over = figure.locator(".u-over")
    box = over.bounding_box()
    assert box is not None
    page.mouse.move(0, 0)
    over.hover(position={"x": box["width"] * share, "y": box["height"] / 2})
    read = figure.locator(".read")
    wait_for(lambda: ": " in read.inner_text(), bound_s=SEEN_S, what="what the mouse points at")
    step, _, said = read.inner_text().partition(": ")
    return int(step), float(said.split(" · ")[0])
