"""Writes docs/checks.md and docs/checks.zh-CN.md from the registry and the case file: `make docs`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from submitter.checks.about import NODE_CHECKS, NodeCheck, about, pattern, title
from submitter.checks.families import by_family
from submitter.checks.registry import RULES
from submitter.checks.rule import Rule
from submitter.texts import text
from tests.support.failures import Record, coverage, records

DOCS = Path(__file__).parents[1] / "docs"
FILES = {"en": DOCS / "checks.md", "zh": DOCS / "checks.zh-CN.md"}

WORDS = {
    "title": {"en": "Checks", "zh": "检查"},
    "intro": {
        "en": "What `npurun check` looks at, by id; `npurun explain ID` shows one of them. `submit` and `render` "
        "refuse a job with errors unless `--force` names their ids. Generated from the code: `make docs`.",
        "zh": "`npurun check` 的全部检查项，按 ID 排列；`npurun explain ID` 显示其中一项。作业有错误时 `submit` "
        "和 `render` 会拒绝，除非用 `--force` 写明其 ID。本文件由代码生成：`make docs`。",
    },
    "nodes": {
        "en": "Found on the nodes, by `npurun doctor` and as the first step of each attempt; whether it is an error "
        "depends on what is found. A node with an error is left out or ends the attempt: `cluster.on_unfit`.",
        "zh": "在节点上检查：由 `npurun doctor` 执行，也是每次尝试的第一步；是否为错误取决于检查结果。"
        "有错误的节点会被排除，或使该次尝试结束：见 `cluster.on_unfit`。",
    },
    "found": {"en": "as found", "zh": "视情况"},
    "says": {"en": "It says", "zh": "报告内容"},
    "fix": {"en": "What to do", "zh": "处理办法"},
    "source": {"en": "Source", "zh": "依据"},
    "never": {"en": "cannot be forced", "zh": "不可忽略"},
    "cases": {"en": "Failures that users reported", "zh": "用户报告过的故障"},
    "cases_intro": {
        "en": "Each was looked into: the checks that tell of it before anything is submitted, or why none does.",
        "zh": "每一个都已分析：列出提交前就能指出它的检查项，或没有检查项的原因。",
    },
    "cases_head": {"en": "| report | kind | checks, or why none |", "zh": "| 报告 | 类别 | 检查项，或没有的原因 |"},
    "needs_cluster_probe": {
        "en": "decided on the nodes, not by the job: only a probe there can see it",
        "zh": "取决于节点而不是作业：只有在节点上探测才能看到",
    },
    "no": {"en": "shows only while the run goes on", "zh": "只在运行过程中出现"},
    "yes": {"en": "not covered yet", "zh": "尚未覆盖"},
}


def main() -> None:
    write_pages(FILES, document)


def write_pages(files: Mapping[str, Path], document: Callable[[str], str]) -> None:
    """`document(language)` into each language's file."""
    for language, file in files.items():
        file.write_text(document(language), encoding="utf-8")


def document(language: str) -> str:
    parts = [f"# {_word('title', language)}", _word("intro", language), *_families(language), *_cases(language)]
    return "\n\n".join(parts) + "\n"


def _families(language: str) -> Iterator[str]:
    every: tuple[Rule | NodeCheck, ...] = (*RULES, *NODE_CHECKS)
    for heading, rules in by_family(every):
        yield f"## {text(heading, language)}"
        if any(isinstance(rule, NodeCheck) for rule in rules):
            yield _word("nodes", language)
        yield from (_rule(rule, language) for rule in rules)


def _marks(rule: Rule | NodeCheck, language: str) -> str:
    if isinstance(rule, NodeCheck):
        return _word("found", language)
    severity = " / ".join(text(f"cli.severity.{severity}", language) for severity in rule.severities)
    return severity if rule.forcible else f"{severity}, {_word('never', language)}"


def _rule(rule: Rule | NodeCheck, language: str) -> str:
    marks = _marks(rule, language)
    heading = title(rule.id, language)
    rest = about(rule.id, language).removeprefix(heading).lstrip(".。 ")
    lines = [
        f"### {rule.id} {markdown(heading)}",
        "",
        f"*{marks}* {markdown(rest)}".rstrip(),
        "",
        f"- {_word('says', language)}: {markdown(pattern(rule.id, language))}",
        f"- {_word('fix', language)}: {markdown(pattern(f'{rule.id}.fix', language))}",
        f"- {_word('source', language)}: {markdown(rule.source)}",
    ]
    return "\n".join(lines)


def _cases(language: str) -> Iterable[str]:
    rows = [f"| [{one.id}]({one.url}) | {one.kind} | {_told(one, language)} |" for one in records()]
    table = "\n".join([_word("cases_head", language), "|---|---|---|", *rows])
    return f"## {_word('cases', language)}", _word("cases_intro", language), table


def _told(record: Record, language: str) -> str:
    found = coverage().get(record.id)
    if found is None:
        return _word(record.detectable, language)
    return ", ".join(found.rules) if found.why_not is None else markdown(found.why_not[language])


def _word(name: str, language: str) -> str:
    return WORDS[name][language]


def markdown(line: str) -> str:
    """Outside of code spans, what Markdown would read as its own is escaped."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([<>*|\[\]])", r"\\\1", part) for part in parts)


if __name__ == "__main__":
    main()
