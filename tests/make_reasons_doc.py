"""Writes docs/reasons.md and docs/reasons.zh-CN.md from the table of reasons and the signatures: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator

from submitter.recovery.reasons import FAMILIES, REASONS, Family, Reason
from submitter.recovery.signatures import Signature, signatures
from submitter.texts import text
from tests.make_checks_doc import DOCS, markdown, write_pages

FILES = {"en": DOCS / "reasons.md", "zh": DOCS / "reasons.zh-CN.md"}
LINES_SHOWN = 3
"""Of a reason: how it looks in a log."""
LINE_CHARS = 160

WORDS = {
    "title": {"en": "Reasons", "zh": "原因"},
    "intro": {
        "en": "Why an attempt ended, by family; `npurun explain ID` shows one of them, `npurun diagnose LOG` finds the "
        "one of a log. Generated from the code: `make docs`.",
        "zh": "一次尝试结束的原因，按类别排列；`npurun explain ID` 显示其中一个，`npurun diagnose LOG` 找出日志的原因。"
        "本文件由代码生成：`make docs`。",
    },
    "fix": {"en": "What to do", "zh": "处理办法"},
    "retry": {"en": "Retried", "zh": "是否重试"},
    "node": {"en": "the node is at fault", "zh": "由该节点引起"},
    "lines": {"en": "In logs", "zh": "日志中的样子"},
    "now": {"en": "at once", "zh": "立即重试"},
    "backoff": {"en": "after a while", "zh": "等待后重试"},
    "exclude_node": {"en": "without the node", "zh": "排除该节点后重试"},
    "after_change": {"en": "only after a change of the job or its code", "zh": "须先修改作业或代码"},
    "never": {"en": "there is nothing to retry", "zh": "无需重试"},
    "unknown": {"en": "once; again only if new steps were trained", "zh": "重试一次；训练出新的步才会再次重试"},
}


def main() -> None:
    write_pages(FILES, document)


def document(language: str) -> str:
    parts = [f"# {_word('title', language)}", _word("intro", language)]
    for family in FAMILIES:
        parts += _family(family, language)
    return "\n\n".join(parts) + "\n"


def _family(family: Family, language: str) -> Iterator[str]:
    yield f"## {text(f'reason.family.{family}', language)}"
    yield from (_reason(reason, language) for reason in REASONS.values() if reason.family == family)


def _reason(reason: Reason, language: str) -> str:
    said, means, fix = (markdown(text(f"reason.{reason.id}{part}", language)) for part in ("", ".means", ".fix"))
    retry = _word(reason.retry, language)
    node = f"; {_word('node', language)}" if reason.blames_node else ""
    lines = [
        f"### `{reason.id}`",
        "",
        f"*{said}* — {means}",
        "",
        f"- {_word('retry', language)}: {retry}{node}",
        f"- {_word('fix', language)}: {fix}",
        *_lines(reason, language),
    ]
    return "\n".join(lines)


def _lines(reason: Reason, language: str) -> Iterator[str]:
    shown = [_shown(one) for one in signatures() if one.reason == reason.id and one.role != "noise"]
    if shown:
        yield f"- {_word('lines', language)}: {'; '.join(shown[:LINES_SHOWN])}"


def _shown(signature: Signature) -> str:
    line = " ".join(signature.example.split())
    cut = line if len(line) <= LINE_CHARS else f"{line[: LINE_CHARS - 1]}…"
    fence = "``" if "`" in cut else "`"
    return f"{fence} {cut} {fence}" if "`" in cut else f"{fence}{cut}{fence}"


def _word(name: str, language: str) -> str:
    return WORDS[name][language]


if __name__ == "__main__":
    main()
