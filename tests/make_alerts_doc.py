"""Writes docs/alerts.md and docs/alerts.zh-CN.md from the table of rules: `make docs`."""

from __future__ import annotations

from submitter.checks.about import about, pattern, title
from submitter.metrics.alerts import RULES, Rule
from submitter.texts import text
from tests.make_checks_doc import DOCS, markdown, write_pages

FILES = {"en": DOCS / "alerts.md", "zh": DOCS / "alerts.zh-CN.md"}

WORDS = {
    "title": {"en": "Alerts", "zh": "告警"},
    "intro": {
        "en": "What npurun says of a run while it trains, by the numbers that the trainer logs and the nodes measure. "
        "An alert lasts as long as its rule holds over the newest 400 steps; where one begins and where it ends there "
        "is room, so that none flaps. `npurun explain ID` shows one of them. Generated from the code: `make docs`.",
        "zh": "训练过程中 npurun 依据训练日志与节点测量值给出的提示。规则在最近 400 步内成立时告警持续；"
        "开始与结束的阈值不同，避免反复。`npurun explain ID` 显示其中一项。本文件由代码生成：`make docs`。",
    },
    "says": {"en": "It says", "zh": "内容"},
    "fix": {"en": "What people do", "zh": "通常的处理"},
    "source": {"en": "Source", "zh": "依据"},
}


def main() -> None:
    write_pages(FILES, document)


def document(language: str) -> str:
    parts = [f"# {_word('title', language)}", _word("intro", language), *(_rule(rule, language) for rule in RULES)]
    return "\n\n".join(parts) + "\n"


def _rule(rule: Rule, language: str) -> str:
    severity = " / ".join(text(f"cli.severity.{one}", language) for one in rule.severities)
    heading = title(rule.id, language)
    rest = about(rule.id, language).removeprefix(heading).lstrip(".。 ")
    lines = [
        f"## {rule.id} {markdown(heading)}",
        "",
        f"*{severity}* {markdown(rest)}".rstrip(),
        "",
        f"- {_word('says', language)}: {markdown(pattern(rule.id, language))}",
        f"- {_word('fix', language)}: {markdown(pattern(f'{rule.id}.fix', language))}",
        f"- {_word('source', language)}: {markdown(rule.source)}",
    ]
    return "\n".join(lines)


def _word(name: str, language: str) -> str:
    return WORDS[name][language]


if __name__ == "__main__":
    main()
