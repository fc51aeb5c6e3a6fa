"""The pages in a real browser: every page, every control, and numbers that are those of the ledger."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

from submitter.ledger import Ledger
from submitter.watch.live import LiveRun, LiveRuns
from submitter.watch.view import RunView
from tests.support.browser import NARROW, Heard, chromium, listened, new_context, signed_in, until
from tests.support.fake_ray import FakeJob, FakeRay
from tests.support.trained import Trained, trained_run
from tests.support.usable import flaws
from tests.support.web import TOKEN, Web, web

pytestmark = [pytest.mark.real, pytest.mark.timeout(90)]

ATTACK = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
RUN, BARE, ENDED = "r", "bare", "ended"
REWARD, STEP_S = "critic/rewards/mean", "timing_s/step"
PAGES = ("/", f"/run/{RUN}", f"/run/{BARE}", "/cluster", "/nothing")
PROOF_LINE = 812
"""Where `trained` says that the evidence stands."""
DRAWN = "performance.getEntriesByName('curves-drawn').length"


@dataclass
class Site:
    ledger: Ledger
    pages: Web
    run: Trained
    logs: dict[str, FakeJob]
    cared: list[bool] = field(default_factory=list)

    def view(self, run: str = RUN) -> RunView:
        return LiveRun(self.ledger, run).view(int(time.time() * 1000))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home, now_ms, cared = tmp_path_factory.mktemp("home"), int(time.time() * 1000), list[bool]()
    with FakeRay() as ray:
        ledger = Ledger(home)
        run = trained_run(ledger, RUN, steps=200, now_ms=now_ms, address=ray.address)
        more: Any = {"now_ms": now_ms - 60_000, "address": ray.address, "nodes": 2, "alerts": 0}
        trained_run(ledger, BARE, steps=40, attempts=1, devices=None, job=f"odd {ATTACK} '&", **more)
        trained_run(ledger, ENDED, steps=30, attempts=2, state="failed", **more)
        logs = {one.submission_id: log_of(home, one.submission_id) for one in ledger.attempts(RUN)}
        ray.jobs.update(logs)
        with web(ledger, care=lambda: cared.append(True)) as pages:
            yield Site(ledger, pages, run, logs, cared)
        ledger.close()


def log_of(home: Path, submission: str) -> FakeJob:
    job = FakeJob(submission, "RUNNING", {}, home / f"{submission}.log")
    lines = [f"(TaskRunner pid=7) \x1b[36mstep:{number} - {REWARD}:0.5\x1b[0m" for number in range(1, 1001)]
    lines[PROOF_LINE - 1] = "what the evidence shows"
    lines[998] = f"answer: {ATTACK}"
    job.write("".join(f"{line}\n" for line in lines).encode())
    return job


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@dataclass
class Tab:
    page: Page
    site: Site
    heard: Heard

    def open(self, path: str) -> Page:
        self.page.goto(self.site.pages.origin + path)
        if path.startswith("/run/"):
            until(self.page, DRAWN, "the curves")
            until(self.page, "document.getElementById('link').dataset.state === 'live'", "the connection")
        return self.page

    def text(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()


@pytest.fixture
def tab(browser: Browser, site: Site) -> Iterator[Tab]:
    """At its end: nothing was complained of, nobody else was asked, and no text became a script."""
    with signed_in(new_context(browser, locale="en-GB"), site.pages) as page:
        heard = listened(page)
        yield Tab(page, site, heard)
        assert heard.complaints == []
        assert [url for url in heard.asked if not url.startswith((site.pages.origin, "data:"))] == []
        assert page.title() != "taken"


def number(text: str) -> float:
    return float(text.replace(",", "").replace("%", ""))


def close(value: float | None) -> Any:
    assert value is not None
    return pytest.approx(value, rel=2e-3)


def test_only_the_token_opens_the_pages(browser: Browser, site: Site) -> None:
    page = new_context(browser, locale="en-GB").new_page()
    page.goto(f"{site.pages.origin}/run/{RUN}")
    assert page.url.endswith("/login")
    page.get_by_label("Token").fill("a guess")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That is not the token.")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.goto(site.pages.origin)
    assert page.url.endswith("/login")
    page.context.close()


def test_the_list_has_the_ledgers_runs(tab: Tab) -> None:
    page = tab.open("/")
    rows = page.locator("#rows tr")
    expect(rows).to_have_count(3)
    for row in LiveRuns(tab.site.ledger).rows(int(time.time() * 1000)):
        shown = rows.filter(has=page.get_by_role("link", name=row.run, exact=True)).locator("td").all_inner_texts()
        assert row.job in shown[0] and shown[1] == row.state
        assert shown[2] == f"{row.step} / {row.total_steps}"
        assert [number(text) for text in shown[3:8]] == [
            close(row.reward),
            pytest.approx(100 * (row.goodput or 0), abs=0.2),
            close(row.steps_per_hour),
            row.attempts,
            row.alerts,
        ]


def test_the_list_is_filtered_and_sorted(tab: Tab) -> None:
    page = tab.open("/")
    names = page.locator("#rows .name a")
    expect(names).to_have_count(3)
    page.get_by_role("searchbox").fill("odd run")
    expect(names).to_have_text([BARE])
    page.get_by_role("searchbox").fill("no such run")
    expect(page.locator("#no-match")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="failed 1").click()
    expect(names).to_have_text([ENDED])
    page.get_by_role("button", name="All states").click()
    for down in (True, False):
        page.get_by_role("button", name="Step", exact=True).click()
        order = sorted(LiveRuns(tab.site.ledger).rows(0), key=lambda row: (row.step or 0) / (row.total_steps or 1))
        expected = [row.run for row in (reversed(order) if down else order)]
        assert expected[0 if down else -1] == names.all_inner_texts()[0 if down else -1]
        sort = page.locator("th[data-key=progress]").get_attribute("aria-sort")
        assert sort == ("descending" if down else "ascending")
    page.reload()
    expect(page.locator("th[data-key=progress]")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("link", name=RUN, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(RUN)


def test_a_run_shows_the_ledgers_numbers(tab: Tab) -> None:
    view = tab.site.view()
    page = tab.open(f"/run/{RUN}")
    assert (tab.text("#step"), tab.text("#total")) == (str(view.step), f"of {view.total_steps}")
    assert page.locator("#bar").get_attribute("aria-valuenow") == str(view.step)
    assert view.goodput is not None and view.step is not None
    assert number(tab.text("[data-tile=reward] dd")) == close(view.reward)
    assert number(tab.text("[data-tile=per_hour] dd")) == close(view.steps_per_hour)
    assert number(tab.text("[data-tile=tokens] dd")) == pytest.approx(view.tokens_per_npu_s, rel=1e-2)
    assert number(tab.text("[data-tile=goodput] dd")) == pytest.approx(100 * view.goodput.share, abs=0.2)
    assert "left" in tab.text("#eta")
    for curve in view.curves.values():
        assert number(tab.text(f"[data-name='{curve.name}'] .read")) == close(curve.values[-1])
    assert page.locator(".chart").count() == len(view.curves) == 6
    for phase in view.phases:
        seconds, share = page.locator(f"tr[data-phase={phase.id}] td.number").all_inner_texts()
        assert number(seconds) == pytest.approx(phase.seconds, rel=1e-2, abs=0.01)
        assert number(share) == pytest.approx(100 * phase.share, abs=0.06)


def test_attempts_alerts_and_nodes_of_a_run(tab: Tab) -> None:
    view = tab.site.view()
    page = tab.open(f"/run/{RUN}")
    for one in view.attempts:
        row = tab.text(f"tr[data-attempt='{one.attempt}']")
        assert f"{one.first_step}–{one.last_step}" in row and one.state in row
        assert not one.void_steps or f"{one.void_steps} steps trained again" in row
        assert all(line["text"] in row for line in one.evidence)
        assert one.reason is None or (one.reason in row and "Time lost: " in row)
        assert one.decision is None or f"attempt {one.attempt + 1} follows" in row
    holds = view.open_alerts
    assert page.locator("#open-alerts .alert").count() == len(holds) == 1
    page.locator("#open-alerts summary").click()
    expect(page.locator("#open-alerts p")).to_contain_text("What to do")
    assert page.locator("#alerts-shown tbody tr").count() == len(view.alerts) == 2
    assert str(holds[0].values["value"]) in tab.text("#open-alerts .alert")
    for node in view.nodes:
        shown = page.locator(f"tr[data-node='{node.node}']")
        assert f"{round(node.use_percent or 0)} %" in shown.inner_text()
        squares = shown.locator(".use .heat i")
        assert node.devices is not None and squares.count() == len(node.devices)
        title = squares.nth(3).get_attribute("title")
        assert title == f"NPU 3: {round(node.devices[3].use_percent or 0)} %"


def test_what_is_not_measured_is_said(tab: Tab) -> None:
    page = tab.open(f"/run/{BARE}")
    row = page.locator("#nodes-shown tbody tr").first
    for name in ("use", "hbm", "temperature", "number", "health"):
        expect(row.locator(f"td.{name}").first).to_have_text("not measured")
    expect(page.locator("#no-alerts")).to_be_visible()
    assert ATTACK in tab.text("#job")


def test_steps_come_as_they_are_trained(tab: Tab) -> None:
    page = tab.open(f"/run/{RUN}")
    ledger, attempt = tab.site.ledger, tab.site.run.parts[-1].attempt
    last = ledger.steps(RUN, newest=1)[-1]
    curve = page.locator(f".chart[data-name='{REWARD}']")
    drawn = ink(curve)
    row = (last.step + 1, int(time.time() * 1000), {**last.metrics, REWARD: 1.625, STEP_S: 61.0})
    ledger.record_steps(RUN, attempt, [row])
    expect(page.locator("#step")).to_have_text(str(last.step + 1))
    expect(curve.locator(".read")).to_have_text("1.625")
    expect(page.locator("[data-tile=reward] dd")).to_have_text("1.625")
    assert page.title().startswith(f"{last.step + 1} ")
    assert ink(curve) != drawn
    page.goto(tab.site.pages.origin)
    expect(page.locator("#rows tr", has_text=REWARD).or_(page.locator("#rows"))).to_contain_text(f"{last.step + 1} / ")
    ledger.record_steps(RUN, attempt, [(last.step + 2, int(time.time() * 1000), last.metrics)])
    expect(page.locator("#rows")).to_contain_text(f"{last.step + 2} / ")


def ink(chart: Locator) -> str:
    return str(chart.locator("canvas").evaluate("canvas => canvas.toDataURL()"))


def test_metrics_are_chosen_and_remembered(tab: Tab) -> None:
    page = tab.open(f"/run/{RUN}")
    names = page.locator(".chart")
    page.get_by_role("button", name="Choose metrics").click()
    assert page.locator("#picker-names input").count() == len(tab.site.ledger.metric_names(RUN))
    page.locator("#picker-filter").fill("PG_LOSS")
    page.get_by_label("actor/pg_loss").check()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(names).to_have_count(7)
    last = tab.site.ledger.steps(RUN, newest=1)[-1].metrics["actor/pg_loss"]
    shown = page.locator("[data-name='actor/pg_loss'] .read")
    until(page, "document.querySelector('[data-name=\"actor/pg_loss\"] .read').textContent", "its value")
    assert float(shown.inner_text().replace("−", "-")) == pytest.approx(last, rel=1e-2)
    page.get_by_role("button", name=f"Close: {REWARD}").click()
    expect(names).to_have_count(6)
    tab.open(f"/run/{RUN}")
    assert page.locator(f".chart[data-name='{REWARD}']").count() == 0
    assert page.locator(".chart[data-name='actor/pg_loss']").count() == 1
    page.get_by_role("button", name="Choose metrics").click()
    page.get_by_role("button", name="Back to the first six").click()
    page.keyboard.press("Escape")
    expect(page.locator(f".chart[data-name='{REWARD}']")).to_have_count(1)
    expect(names).to_have_count(6)


def test_a_stretch_of_steps_is_looked_at(tab: Tab) -> None:
    page = tab.open(f"/run/{RUN}")
    charts = [page.locator(".chart").nth(place) for place in (0, 5)]
    before = [ink(one) for one in charts]
    over = charts[0].locator(".u-over")
    box = over.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    expect(charts[0].locator(".read.held")).to_be_visible()
    step = number(charts[0].locator(".read").inner_text().split(":")[0])
    assert charts[1].locator(".read").inner_text().startswith(f"{step:.0f}:"), "the cursor is one for all"
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name="Whole run")).to_be_visible()
    page.mouse.move(2, 2)
    assert all(ink(chart) != was for chart, was in zip(charts, before, strict=True))
    page.get_by_role("button", name="Whole run").click()
    expect(page.get_by_role("button", name="Whole run")).to_be_hidden()


def test_arguments_and_what_differs(tab: Tab) -> None:
    page = tab.open(f"/run/{RUN}")
    page.locator("#facts").scroll_into_view_if_needed()
    expect(page.locator(".differences tbody tr", has_text="gpu_memory_utilization")).to_contain_text("0.6")
    expect(page.locator("#facts-shown details").first).to_contain_text("algorithm.adv_estimator")
    page.get_by_label("Search").and_(page.locator("#facts-filter")).fill("batch_size")
    expect(page.locator("#facts-shown details").first.locator("tbody tr")).to_have_count(2)
    page.locator("#facts-attempt").select_option("1")
    page.locator("#facts-filter").fill("")
    expect(page.locator(".differences")).to_contain_text("nothing to compare with")


def test_the_log_is_text_and_is_followed(tab: Tab) -> None:
    page = tab.open(f"/run/{RUN}")
    page.locator("#log").scroll_into_view_if_needed()
    lines = page.locator("#log-lines .line")
    expect(lines).to_have_count(400)
    expect(lines.nth(398)).to_have_text(f"answer: {ATTACK}")
    expect(lines.nth(399)).to_have_text(f"(TaskRunner pid=7) step:1000 - {REWARD}:0.5")
    newest = tab.site.run.parts[-1].attempt
    tab.site.logs[f"{RUN}-a{newest}"].write(b"one more line\n")
    expect(lines.last).to_have_text("one more line")
    until(
        page,
        "(e => e.scrollTop + e.clientHeight > e.scrollHeight - 3)(document.getElementById('log-lines'))",
        "its end",
    )
    page.get_by_label("Follow").uncheck()
    page.locator("#log-attempt").select_option("1")
    expect(lines.last).to_have_text(f"(TaskRunner pid=7) step:1000 - {REWARD}:0.5")


def test_the_log_is_searched_and_evidence_found(tab: Tab) -> None:
    page = tab.open(f"/run/{RUN}")
    page.locator("#log-text").fill("<SCRIPT>document")
    page.get_by_role("button", name="Search").click()
    lines = page.locator("#log-lines .line")
    expect(lines).to_have_count(1)
    expect(lines.locator("mark")).to_have_text("<script>document")
    lines.get_by_role("button", name="999").click()
    expect(page.locator(".line[aria-current]")).to_contain_text(ATTACK)
    page.get_by_role("button", name=f"show in the log: a1, {PROOF_LINE}").click()
    expect(page.locator(".line[aria-current] .said")).to_have_text("what the evidence shows")
    assert page.locator("#log-attempt").input_value() == "1"
    expect(page.locator(".line[aria-current]")).to_be_in_viewport()
    page.get_by_role("button", name="Newest lines").click()
    expect(lines).to_have_count(400)


def test_a_log_that_is_gone_is_told(tab: Tab) -> None:
    page = tab.open(f"/run/{BARE}")
    page.locator("#log").scroll_into_view_if_needed()
    expect(page.locator("#log-said")).to_have_text("Ray does not have this attempt's log any more")


def test_a_run_is_stopped_after_a_question(tab: Tab) -> None:
    page, ledger = tab.open(f"/run/{BARE}"), tab.site.ledger
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Cancel").click()
    run = ledger.run(BARE)
    assert run is not None and run.wanted == "run"
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("dialog")).to_contain_text("Stop this run?")
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#told")).to_have_text(f"run {BARE} is being stopped")
    run = ledger.run(BARE)
    assert run is not None and run.wanted == "stop" and tab.site.cared
    ledger.want(BARE, "run")


def test_a_run_is_resumed(tab: Tab) -> None:
    page = tab.open(f"/run/{ENDED}")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Yes").click()
    said = page.locator("#told p")
    expect(said).to_contain_text(ENDED)
    is_active = getattr(tab.site.ledger.run(ENDED), "state", None) == "active"
    assert is_active == (said.get_attribute("class") == "good")


def test_a_node_is_released(tab: Tab) -> None:
    page, ledger = tab.open("/cluster"), tab.site.ledger
    kept = ledger.quarantined(int(time.time() * 1000))
    rows = page.locator(".quarantine tbody tr")
    expect(rows).to_have_count(len(kept))
    node = kept[0].node
    page.get_by_role("button", name=f"Release {node}").first.click()
    expect(page.get_by_role("dialog")).to_contain_text(node)
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#told")).to_contain_text(f"node {node} may be used again")
    left = [one for one in kept if one.node != node]
    expect(rows).to_have_count(len(left))
    assert [one.node for one in ledger.quarantined(int(time.time() * 1000))] == [one.node for one in left]
    measured = sum(len(tab.site.view(run).nodes) for run in (RUN, BARE))
    assert page.locator(".nodes tbody tr").count() >= measured
    dashboard = page.get_by_role("link", name="Ray: cluster")
    assert dashboard.get_attribute("href") == f"{tab.site.ledger.run(RUN).address}/#/cluster"  # type: ignore[union-attr]


def test_two_languages_and_two_colours(tab: Tab) -> None:
    page = tab.open(f"/run/{RUN}")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark or light").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.get_by_role("button", name="中文").click()
    until(page, "document.documentElement.lang === 'zh-CN'", "Chinese")
    until(page, DRAWN, "the curves")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    expect(page.locator("#curves-name")).to_have_text("曲线")
    expect(page.locator("#state")).to_have_text("运行中")
    tab.open("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("运行")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")


def test_no_word_is_left_out_in_either_language(tab: Tab) -> None:
    """A text that is missing shows its id."""
    for language in ("English", "中文"):
        for path in ("/", f"/run/{RUN}", f"/run/{BARE}", "/cluster"):
            page = tab.open(path)
            until(page, "!document.getElementById('reading') || document.getElementById('reading').hidden", "the rows")
            shown = page.locator("body").inner_text()
            assert not [word for word in shown.split() if word.startswith(("web.", "phase.", "reason.", "decide."))]
            assert "undefined" not in shown and "NaN" not in shown and "{" not in shown.replace(ATTACK, "")
        if language == "English":
            page.get_by_role("button", name="中文").click()
            until(page, "document.documentElement.lang === 'zh-CN'", "Chinese")


def test_a_lost_connection_is_said_and_comes_back(tab: Tab) -> None:
    routes: list[WebSocketRoute] = []
    refuses = False

    def route(socket: WebSocketRoute) -> None:
        routes.append(socket)
        if refuses:
            socket.close(code=1013)
        else:
            socket.connect_to_server()

    tab.page.route_web_socket("**/live", route)
    page = tab.open(f"/run/{RUN}")
    refuses = True
    routes[-1].close(code=1001)
    expect(page.locator("#link")).to_have_text("not connected: trying again")
    until(page, "true", "a moment")
    last = tab.site.ledger.steps(RUN, newest=1)[-1]
    row = (last.step + 1, int(time.time() * 1000), last.metrics)
    tab.site.ledger.record_steps(RUN, tab.site.run.parts[-1].attempt, [row])
    refuses = False
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator("#step")).to_have_text(str(last.step + 1))
    assert len(routes) > 1


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_read_and_use_it(browser: Browser, site: Site, dark: bool) -> None:
    with signed_in(new_context(browser, dark=dark, locale="en-GB"), site.pages) as page:
        tab = Tab(page, site, listened(page))
        for path in PAGES:
            tab.open(path)
            until(page, "!document.getElementById('reading') || document.getElementById('reading').hidden", "the rows")
            assert flaws(page) == [], path
            assert page.locator("h1").count() == 1 and page.evaluate("document.documentElement.lang") == "en"


def test_it_fits_a_telephone(browser: Browser, site: Site) -> None:
    with signed_in(new_context(browser, size=NARROW, locale="en-GB"), site.pages) as page:
        tab = Tab(page, site, listened(page))
        for path in PAGES:
            tab.open(path)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= NARROW["width"], f"{path} is {wide} wide"
        assert tab.heard.complaints == [] or all("404" in one for one in tab.heard.complaints)


def test_it_is_used_by_keyboard(tab: Tab) -> None:
    page = tab.open("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    until(page, "document.querySelectorAll('#rows tr').length", "the rows")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or page.evaluate("document.activeElement === document.body")
        reached.add(page.evaluate("document.activeElement.textContent.trim() || document.activeElement.id"))
    assert {"Cluster", "中文", "theme", "filter", "Reward", RUN} <= reached


def test_nothing_comes_from_the_page_but_what_the_policy_allows(site: Site) -> None:
    answer = site.pages.known(f"/run/{RUN}")
    assert "'unsafe-eval'" not in json.dumps(dict(answer.headers)) and "<script>" not in answer.text
