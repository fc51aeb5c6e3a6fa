"""One screen of a run: lines that fit, the most telling ones where there is little room. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from rich.text import Text

from submitter.errors import NpurunError
from submitter.ledger import StoredAlert
from submitter.texts import TABLE
from submitter.texts import text as words
from submitter.watch.terminal.figures import ASCII, BLOCKS, gib, number, percent, span, sparkline
from submitter.watch.view import AttemptView, NodeView, RunView
from submitter.watch.words import alert_text

LEAST_WIDTH = 40
NAME_CELLS = 17
"""Of a curve's name and of a node's address."""
VALUE_CELLS = 9
LOG_LEAST = 3
ACTIVE = frozenset({"submitting", "pending", "running", "unreachable", "waiting"})
STATE_STYLES = {"running": "green", "succeeded": "green", "failed": "red", "stopped": "dim"}
SEVERITY_STYLES = {"error": "red", "warning": "yellow", "hint": "dim"}
SHADES = ("blue", "yellow", "green", "magenta", "cyan", "red", "bright_blue", "bright_yellow", "bright_green")
PHASE_MARKS = {
    **{"generation": "G", "reward": "R", "old_log_prob": "L", "reference": "F", "values": "V", "advantage": "A"},
    **{"critic_update": "C", "actor_update": "U", "weight_sync": "W", "checkpoint": "K", "validation": "T"},
}
OTHER_MARK = "."
"""Where colours do not tell phases apart."""


@dataclass(frozen=True)
class Screen:
    width: int
    height: int
    language: str = "en"
    blocks: bool = True
    """The terminal's encoding has block characters."""

    def lines(self, view: RunView, log: Sequence[str], now_ms: int, trouble: NpurunError | None = None) -> list[Text]:
        """At most `height` lines of at most `width` cells."""
        head = [self._title(view), self._progress(view), self._figures(view), *self._phases(view), *self._curves(view)]
        foot = [self._foot(view, now_ms)]
        room = max(0, self.height - len(head) - len(foot))
        alerts = self._section(view.open_alerts[::-1], max(1, room // 5), self._alert)
        room -= len(alerts)
        attempts = self._section(view.attempts[::-1], max(1, room // 4), lambda one: self._attempt(one, now_ms))
        told = max(LOG_LEAST, len(log) + (trouble is not None))
        nodes = self._nodes(view.nodes, max(2, room // 3, room - len(attempts) - told))
        room -= len(attempts) + len(nodes)
        tail = self._log(log, room, trouble)
        found = [*head, *alerts, *nodes, *attempts, *tail]
        return [self._fitted(line) for line in (*found[: max(0, self.height - 1)], *foot)][: self.height]

    def _t(self, text_id: str, **values: object) -> str:
        return words(text_id, self.language, **values)

    def _fitted(self, line: Text) -> Text:
        line.truncate(self.width, overflow="ellipsis" if self.blocks else "crop")
        return line

    def _title(self, view: RunView) -> Text:
        state = Text(self._t(f"web.state.{view.state}"), STATE_STYLES.get(view.state, "yellow"))
        return Text.assemble((view.run, "bold"), "  ", state, "  ", (view.job, "dim"))

    def _progress(self, view: RunView) -> Text:
        if view.step is None:
            return Text(self._t("watch.no_step"))
        if not view.total_steps:
            return Text(self._t("watch.step_of_unknown", step=view.step))
        share = min(1.0, view.step / view.total_steps)
        said = f" {view.step}/{view.total_steps} {percent(share)}"
        if view.eta is not None:
            spread = f"{span(view.eta.low_s)}-{span(view.eta.high_s)}"
            said += "  " + self._t("watch.left", time=span(view.eta.mid_s), spread=spread)
        room = max(8, self.width - Text(said).cell_len - 2)
        full = round(share * room)
        marks = "█░" if self.blocks else "#."
        return Text.assemble((marks[0] * full, "cyan"), (marks[1] * (room - full), "dim"), said)

    def _figures(self, view: RunView) -> Text:
        goodput = view.goodput
        parts = (
            ("watch.reward", view.reward, number),
            ("watch.per_hour", view.steps_per_hour, number),
            ("watch.step_s", view.step_s, number),
            ("watch.tokens", view.tokens_per_npu_s, number),
            ("watch.goodput", goodput.share if goodput else None, percent),
        )
        said = (self._t(name, value=self._or_not(value, shown)) for name, value, shown in parts)
        return Text((" · " if self.blocks else " | ").join(said))

    def _or_not(self, value: float | None, shown: Callable[[float], str]) -> str:
        return self._t("watch.not_measured") if value is None else shown(value)

    def _phases(self, view: RunView) -> list[Text]:
        """A bar, and what its parts are, the largest first."""
        if not view.phases:
            return []
        bar, legend = Text(), Text()
        marks = [PHASE_MARKS.get(phase.id, OTHER_MARK) for phase in view.phases]
        shades = [(mark, SHADES[at % len(SHADES)]) for at, mark in enumerate(marks)]
        for (mark, shade), width in zip(shades, _shares([one.share for one in view.phases], self.width), strict=True):
            bar.append(mark * width, f"reverse {shade}")
        for phase, (mark, shade) in sorted(zip(view.phases, shades, strict=True), key=lambda one: -one[0].share):
            legend.append(f"{mark} ", shade)
            legend.append(f"{self._t(f'phase.{phase.id}')} {100 * phase.share:.0f}%  ")
        return [bar, legend]

    def _curves(self, view: RunView) -> list[Text]:
        """Two beside each other where there is room."""
        columns = 2 if self.width >= 76 else 1
        room = self.width // columns - NAME_CELLS - VALUE_CELLS - 2
        marks = BLOCKS if self.blocks else ASCII
        cells = []
        for key, curve in view.curves.items():
            if not len(curve.values):
                continue
            line = Text(_cut(self._t(f"web.curve.{key}"), NAME_CELLS))
            line.append(f"{number(curve.values[-1]):>{VALUE_CELLS}} ")
            line.append(sparkline(curve.steps, curve.values, room, marks), "cyan")
            cells.append(line)
        return [_beside(cells[at : at + columns], self.width // columns) for at in range(0, len(cells), columns)]

    def _nodes(self, nodes: Sequence[NodeView], most: int) -> list[Text]:
        if not nodes:
            return [Text(self._t("watch.no_nodes"), "dim")]
        odd = sorted(nodes, key=lambda node: (not node.unhealthy, -(node.hbm_percent or 0.0)))
        shown = nodes if len(nodes) <= most - 1 else odd[: most - 2]
        more = (
            [Text(self._t("watch.more_nodes", count=len(nodes) - len(shown)), "dim")] if len(shown) < len(nodes) else []
        )
        return [Text(self._t("watch.nodes_head"), "dim"), *map(self._node, shown), *more]

    def _node(self, node: NodeView) -> Text:
        none = self._t("watch.not_measured")
        use = none if node.use_percent is None else f"{node.use_percent:.0f}%"
        hbm = none if node.hbm_percent is None else f"{node.hbm_percent:.0f}%"
        memory = none
        if node.memory_used_mb is not None and node.memory_total_mb is not None:
            memory = f"{gib(node.memory_used_mb)}/{gib(node.memory_total_mb)} GiB"
        line = Text(_cut(node.node, NAME_CELLS))
        for cell in (use, hbm, memory):
            line.append(_cut(cell, 14))
        if node.unhealthy:
            line.append(self._t("watch.unhealthy", npus=", ".join(map(str, node.unhealthy))), "red")
        return line

    def _attempt(self, one: AttemptView, now_ms: int) -> Text:
        line = Text(f"a{one.attempt}  ")
        line.append(self._t(f"web.state.{one.state}"), STATE_STYLES.get(one.state, "yellow"))
        if one.reason and one.reason != one.state:
            line.append(f"  {one.reason}{f' ({one.node})' if one.node else ''}", "bold")
        if one.first_step is not None:
            line.append("  " + self._t("watch.steps", first=one.first_step, last=one.last_step))
        if one.void_steps:
            line.append("  " + self._t("watch.again", count=one.void_steps), "dim")
        if one.posted_ms is not None:
            line.append(f"  {span(((one.ended_ms or now_ms) - one.posted_ms) / 1000)}", "dim")
        why = (one.decision or {}).get("why")
        if why and f"decide.{why}" in TABLE:
            line.append("  -> " + str(why), "dim")
        return line

    def _alert(self, one: StoredAlert) -> Text:
        said = alert_text(one, self.language).message
        return Text.assemble((f"{one.id} ", SEVERITY_STYLES.get(one.severity, "")), said)

    def _log(self, log: Sequence[str], room: int, trouble: NpurunError | None) -> list[Text]:
        if room < 1:
            return []
        if trouble is not None:
            said = self._t("watch.no_log", error=trouble.render(self.language))
            return [Text(said, "yellow"), *self._tail(log, room - 1)]
        return self._tail(log, room)

    def _tail(self, log: Sequence[str], room: int) -> list[Text]:
        return [Text(line, "dim", no_wrap=True) for line in log[-room:]] if room > 0 else []

    def _foot(self, view: RunView, now_ms: int) -> Text:
        if view.state not in ACTIVE:
            return Text(self._t("watch.over"), "dim")
        if view.supervisor is None:
            return Text(self._t("web.no_supervisor"), "red")
        age = "-" if view.seen_ms is None else span((now_ms - view.seen_ms) / 1000)
        return Text(self._t("watch.keys", age=age), "dim")

    def _section(self, items: Sequence[object], most: int, line: Callable[..., Text]) -> list[Text]:
        return [line(one) for one in items[:most]]


def _shares(shares: Sequence[float], width: int) -> list[int]:
    """Whole cells that add up to `width`."""
    edges = [0.0, *accumulate(shares)]
    places = [round(edge / edges[-1] * width) if edges[-1] else 0 for edge in edges]
    return [after - before for before, after in pairwise(places)]


def _beside(cells: Iterable[Text], width: int) -> Text:
    line = Text()
    for number_, cell in enumerate(cells):
        if number_:
            line.pad_right(max(0, number_ * width - line.cell_len))
        line.append_text(cell)
    return line


def _cut(text: str, cells: int) -> str:
    """In exactly so many cells; characters of Chinese take two."""
    line = Text(text)
    line.truncate(cells - 1, pad=True)
    return f"{line.plain} "
