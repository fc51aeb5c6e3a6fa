"""`{a,b}` and `{1..3}`, on the typed parts of a word; whatever is quoted or expanded stands for itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from submitter.importer.syntax import Node

_SEQUENCE = re.compile(r"(-?\d{1,18}|[A-Za-z])\.\.(-?\d{1,18}|[A-Za-z])(?:\.\.(-?\d{1,18}))?")
MAX_WORDS = 10_000
"""`{1..9}{1..9}…` multiplies; Linux takes no longer command line in practice."""


class TooManyWordsError(Exception):
    pass


Item = str | Node
"""One typed character, with its backslash where it has one, or a part that is no typed text."""


def expanded(parts: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """The parts of each word that the word becomes."""
    if not any(part["Type"] == "Lit" and "{" in part["Value"] for part in parts):
        yield parts
        return
    for number, items in enumerate(_expand(_items(parts))):
        if number >= MAX_WORDS:
            raise TooManyWordsError
        yield _parts(items, parts)


def _items(parts: Sequence[Node]) -> list[Item]:
    items: list[Item] = []
    for part in parts:
        if part["Type"] == "Lit":
            items += re.findall(r"\\.|.", part["Value"], re.DOTALL)
        else:
            items.append(part)
    return items


def _parts(items: Sequence[Item], like: Sequence[Node]) -> list[Node]:
    parts: list[Node] = []
    for item in items:
        if not isinstance(item, str):
            parts.append(item)
        elif parts and parts[-1]["Type"] == "Lit" and parts[-1].get("Made"):
            parts[-1]["Value"] += item
        else:
            parts.append({"Type": "Lit", "Value": item, "Made": True, "Pos": like[0]["Pos"], "End": like[0]["End"]})
    return parts


def _expand(items: list[Item]) -> Iterator[list[Item]]:
    start = 0
    while True:
        opening = next((i for i in range(start, len(items)) if items[i] == "{"), None)
        if opening is None:
            yield items
            return
        found = _group(items, opening)
        if found is not None:
            break
        start = opening + 1
    choices, end = found
    for choice in choices:
        for head in _expand(choice):
            for tail in _expand(items[end + 1 :]):
                yield [*items[:opening], *head, *tail]


def _group(items: list[Item], opening: int) -> tuple[list[list[Item]], int] | None:
    """The choices of the brace at `opening` and where it closes; None: it is plain text."""
    depth, cuts = 0, [opening]
    for index in range(opening, len(items)):
        item = items[index]
        if item == "{":
            depth += 1
        elif item == "}":
            depth -= 1
            if depth == 0:
                return _choices(items, [*cuts, index])
        elif item == "," and depth == 1:
            cuts.append(index)
    return None


def _choices(items: list[Item], cuts: list[int]) -> tuple[list[list[Item]], int] | None:
    if len(cuts) > 2:
        return [items[a + 1 : b] for a, b in pairwise(cuts)], cuts[-1]
    inner = items[cuts[0] + 1 : cuts[1]]
    if not all(isinstance(item, str) for item in inner):
        return None
    found = _SEQUENCE.fullmatch("".join(str(item) for item in inner))
    if found is None:
        return None
    texts = _sequence(found[1], found[2], found[3])
    return ([list(text) for text in texts], cuts[1]) if texts else None


def _sequence(first: str, last: str, step: str | None) -> list[str]:
    letters = first.isalpha() and last.isalpha()
    if not letters and (first.isalpha() or last.isalpha()):
        return []
    low, high = (ord(first), ord(last)) if letters else (int(first), int(last))
    by = abs(int(step)) if step and int(step) else 1
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    if len(numbers) > MAX_WORDS:
        raise TooManyWordsError
    if letters:
        return [chr(number) for number in numbers]
    width = max(len(first), len(last)) if any(re.match(r"-?0\d", end) for end in (first, last)) else 0
    return [f"{number:0{width}d}" for number in numbers]
