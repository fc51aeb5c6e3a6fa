"""What verl's config classes say about a key: which field, of which type, and whether verl would refuse it.

verl makes an object of a node that names its class (`_target_`) by calling the class with the node's keys: a key that
is no field ends the trainer with a TypeError, after its actors have started. Types are not looked at there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from submitter.arguments.trees import Tree

_DICT = re.compile(r"(?:\w+\.)*(?:dict|Dict|Mapping|DictConfig)\b")
_NAMES = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "list": "list",
    "List": "list",
    "ListConfig": "list",
    "tuple": "list",
    "Tuple": "list",
    "dict": "dict",
    "Dict": "dict",
    "DictConfig": "dict",
    "None": "null",
}


@dataclass(frozen=True)
class Spot:
    """Where a key stands in a composed config, as deep as it exists."""

    parent: str
    """The deepest part that exists, dotted; empty for the root."""
    rest: tuple[str, ...]
    """What does not exist; empty when the key does."""
    node: Any
    """The config node at `parent`."""
    fields: Mapping[str, str] | None
    """Of the class that verl makes of `node`; None: no such class, or not known."""
    annotation: str | None
    """Of the key itself, or of what is missing first."""
    free: bool
    """Keys of any name may be added at `parent`: it is in a dict without a class."""


def spot(tree: Tree, config: Any, key: str) -> Spot:
    node, fields, annotation, free = config, _fields(tree, config), None, False
    parts = key.split(".")
    for depth, part in enumerate(parts):
        child = child_of(node, part)
        if child is None:
            known = (fields or {}).get(part)
            return Spot(".".join(parts[:depth]), tuple(parts[depth:]), node, fields, known, free)
        annotation = (fields or {}).get(part)
        node, fields = child, _fields(tree, child)
        free = fields is None and (free or _free(node, annotation))
    return Spot(key, (), node, fields, annotation, free)


def child_of(node: Any, name: str) -> Any:
    """The node below, unresolved; None: there is none."""
    from omegaconf import DictConfig, ListConfig

    if isinstance(node, ListConfig):
        index = int(name) if name.isdecimal() else len(node)
        return node._get_node(index) if index < len(node) else None
    if not isinstance(node, DictConfig) or node._is_none() or node._is_missing() or node._is_interpolation():
        return None
    return node._get_node(name, validate_access=False)


def types(annotation: str | None) -> frozenset[str]:
    """`Optional[int]` → {"int", "null"}; empty: anything, or not known."""
    if annotation is None:
        return frozenset()
    text = annotation.replace(" ", "").replace("typing.", "")
    optional = re.fullmatch(r"Optional\[(.*)\]", text)
    if optional:
        inner = types(optional[1])
        return inner | {"null"} if inner else inner
    union = re.fullmatch(r"Union\[(.*)\]", text)
    parts = _parts(union[1], ",") if union else _parts(text, "|")
    found = [_NAMES.get(re.split(r"[\[.]", part)[0]) for part in parts]
    return frozenset(one for one in found if one) if all(found) else frozenset()


def _parts(text: str, separator: str) -> list[str]:
    """Split outside brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _fields(tree: Tree, node: Any) -> Mapping[str, str] | None:
    target = child_of(node, "_target_")
    if target is None:
        return None
    return tree.classes.get(str(target._value()).rpartition(".")[2])


def _free(node: Any, annotation: str | None) -> bool:
    from omegaconf import DictConfig

    if annotation is not None and types(annotation):
        return _DICT.search(annotation) is not None
    return isinstance(node, DictConfig) and not node._is_none() and len(node) == 0
