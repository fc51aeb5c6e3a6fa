"""`ray job submit OPTIONS -- COMMAND`: the runtime_env becomes flags and a working_dir."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from submitter.importer.model import Exported, Lit, Template, Value
from submitter.importer.shell import files
from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import EMPTY, joined, literal, text_of

_FLAGS = frozenset({"no-wait", "verify", "delete-working-dir", "help"})
"""Options without a value: https://docs.ray.io/en/latest/cluster/running-applications/job-submission/cli.html"""
_TAKEN = ("runtime-env-json", "runtime-env", "working-dir")
_HOLE = "\ue000{}\ue001"
"""Private-use characters around a number stand for what is not literal while the JSON is read."""
_HOLES = re.compile("\ue000(\\d+)\ue001")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Submission:
    command: tuple[Element, ...]
    env: tuple[Exported, ...] = ()
    working_dir: Value | None = None


def submission(shell: Shell, fields: Sequence[Element]) -> Submission:
    options: dict[str, Template] = {}
    rest = list(fields)
    while rest and rest[0].text != "--" and rest[0].text.startswith("--"):
        word = rest.pop(0)
        name, equals, _ = word.text.removeprefix("--").partition("=")
        if name in _FLAGS:
            continue
        if equals:
            options[name] = shell.behind_equals(word)
        else:
            options[name] = rest.pop(0).template if rest else EMPTY
    if rest and rest[0].text == "--":
        rest.pop(0)
    for name in options:
        if name not in _TAKEN:
            shell.note("importer.submit_option", "note", option=f"--{name}")
    spec = _spec(shell, options)
    working_dir = options.get("working-dir") or _as_template(spec.get("working_dir"))
    for key in spec:
        if key not in ("env_vars", "working_dir"):
            shell.note("importer.runtime_env_key", "warning", key=str(key)[:60])
    return Submission(tuple(rest), tuple(_env(shell, spec)), Value(working_dir) if working_dir else None)


def _spec(shell: Shell, options: Mapping[str, Template]) -> dict[Any, Any]:
    if "runtime-env-json" in options:
        return _from_json(shell, options["runtime-env-json"])
    if "runtime-env" in options:
        return _from_yaml(shell, shell.decide(options["runtime-env"]))
    return {}


def _from_json(shell: Shell, template: Template) -> dict[Any, Any]:
    """The document with templates in place of its texts."""
    try:
        plain = json.loads(text_of(template))
        held = json.loads("".join(part.text if isinstance(part, Lit) else _HOLE.format(number)
                                  for number, part in enumerate(template)))  # fmt: skip
    except (ValueError, RecursionError) as error:
        held = plain = None
        problem = str(error)
    else:
        problem = "" if isinstance(plain, dict) else "no mapping"
    if problem:
        if _parses(text_of(template)):
            return _literal_spec(json.loads(shell.decide(template)))
        shell.note("importer.bad_runtime_env", problem=problem[:80])
        shell.depends(template)
        return {}
    filled = _filled(held, template)
    if _texts(filled) != plain:  # a value's quotes or backslashes mean something in JSON
        return _literal_spec(json.loads(shell.decide(template)))
    return dict(filled)


def _parses(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _from_yaml(shell: Shell, path: str) -> dict[Any, Any]:
    import yaml

    found = files.content(shell, path)
    if found is None:
        shell.note("importer.runtime_env_missing", path=path[:120])
        return {}
    try:
        document = yaml.safe_load(text_of(found))
    except yaml.YAMLError as error:
        shell.note("importer.bad_runtime_env", problem=str(error).splitlines()[0][:80])
        return {}
    return _literal_spec(document) if isinstance(document, dict) else {}


def _literal_spec(document: Any) -> dict[Any, Any]:
    return {key: _deep(value) for key, value in document.items()} if isinstance(document, dict) else {}


def _deep(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _deep(one) for key, one in value.items()}
    return literal(value) if isinstance(value, str) else value


def _filled(value: Any, template: Template) -> Any:
    if isinstance(value, dict):
        return {_key(key, template): _filled(one, template) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, template) for one in value]
    return _template(value, template) if isinstance(value, str) else value


def _key(key: str, template: Template) -> str:
    return _HOLES.sub(lambda match: template[int(match[1])].text, key)


def _template(text: str, whole: Template) -> Template:
    pieces: list[Template] = []
    position = 0
    for hole in _HOLES.finditer(text):
        pieces += [literal(text[position : hole.start()]), (whole[int(hole[1])],)]
        position = hole.end()
    return joined([*pieces, literal(text[position:])])


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _texts(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_texts(one) for one in value]
    return text_of(value) if isinstance(value, tuple) else value


def _env(shell: Shell, spec: Mapping[Any, Any]) -> list[Exported]:
    found = spec.get("env_vars")
    if not isinstance(found, dict):
        return []
    env = []
    for name, value in found.items():
        template = _as_template(value)
        if template is None or _NAME.fullmatch(str(name)) is None:
            shell.note("importer.runtime_env_key", "warning", key=f"env_vars.{name}"[:60])
            continue
        env.append(Exported(str(name), Value(template), shell.line))
    return env


def _as_template(value: Any) -> Template | None:
    """Ray takes texts alone in env_vars; a number in YAML is one that its author forgot to quote."""
    if isinstance(value, tuple):
        return value
    return literal(str(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
