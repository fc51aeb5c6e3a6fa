"""Which commands start a training, and what they start: through `uv run`, `nohup`, `torchrun`, `ray job submit` too."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from submitter.importer.model import Argument, Exported, Launch, Value
from submitter.importer.shell.ray_submit import Submission, submission
from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import EMPTY, literal

_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_TORCHRUN_MODULES = ("torch.distributed.run", "torch.distributed.launch")
_WRAPPERS = ("uv", "nsys", "msprof", "numactl", "conda", "poetry", "ascend-dmi", "pixi", "rye", "pdm")
"""They run what stands behind their own options; what these are is not looked at."""
_TAKE_VALUE = frozenset({"-X", "-W", "--check-hash-based-pycs"})
_NOT_TRAINERS = (
    "pip",
    "pytest",
    "venv",
    "http.server",
    "json.tool",
    "ensurepip",
    "site",
    "compileall",
    "huggingface_hub",
)
PROBES = ("npu-smi", "nvidia-smi", "rocm-smi", "lspci", "ls", "compgen")
ABSENT = ("nvidia-smi", "rocm-smi", "nvcc", "rocminfo")
"""The script is read for a machine with NPUs."""
_FLAG_OPTIONS = frozenset({"standalone", "no_python", "m", "module", "run_path"})
_DEVICE_MODULES = re.compile(
    r"\s*(?:import\s+(?:torch\s*,\s*)?(?:torch_npu|acl|vllm_ascend)\s*;?\s*)+(?:print\([^)]*\)\s*)?"
)
_BASH_OWN = ("_", "SHLVL", "PWD", "OLDPWD")
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w./@-]*=.*", re.DOTALL)
_PREPARING = re.compile(
    r"preprocess|prepare|download|convert|data_process|tokenize|merge|check|eval|print|tools?[./]|server|router"
)


@dataclass(frozen=True)
class _Found:
    runner: tuple[str, ...]
    target: Element
    is_module: bool
    arguments: tuple[Element, ...]
    torchrun: dict[str, Value] | None = None
    submission: Submission | None = None


def launch(shell: Shell, fields: Sequence[Element]) -> bool:
    """Notes the launch, where the command is one; False: it is something else."""
    found = _recognised(shell, list(fields), ())
    if found is None:
        return False
    if shell.quiet:
        return True
    exported = _exported(shell, found)
    shell.record.launches.append(
        Launch(
            line=shell.line,
            file=shell.file,
            launcher="ray" if found.torchrun is None else "torchrun",
            runner=found.runner,
            target=Value(found.target.template),
            is_module=found.is_module,
            arguments=tuple(_argument(element) for element in found.arguments),
            exported=exported,
            torchrun=found.torchrun or {},
            working_dir=found.submission.working_dir if found.submission else None,
        )
    )
    return True


def has_overrides(found: Launch) -> bool:
    return any(_OVERRIDE.fullmatch(argument.value.text) for argument in found.arguments)


def prepares(found: Launch) -> bool:
    """By its name it makes data or models ready, or looks at results."""
    return _PREPARING.search(found.target.text) is not None


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _recognised(shell: Shell, fields: list[Element], runner: tuple[str, ...]) -> _Found | None:
    if not fields:
        return None
    name = os.path.basename(fields[0].text)  # noqa: PTH119
    if _PYTHON.fullmatch(name):
        return _python(shell, fields, runner)
    if name == "torchrun":
        return _torchrun(shell, fields[1:], (*runner, "torchrun"))
    if name == "ray" and [field.text for field in fields[1:3]] == ["job", "submit"]:
        return _ray(shell, fields, runner)
    if name in _WRAPPERS:
        return _wrapped(shell, fields, runner)
    return None


def _python(shell: Shell, fields: list[Element], runner: tuple[str, ...]) -> _Found | None:
    before = [fields[0].text]
    rest = fields[1:]
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        option = rest[0].text
        if option == "-c":
            return None
        if option == "-m" or re.fullmatch(r"-[A-Za-z]*m", option):
            return _module(shell, rest[1:], (*runner, *before))
        if attached := re.fullmatch(r"-m(.+)", option):  # -mpackage.module
            return _module(shell, [replace(rest[0], template=literal(attached[1])), *rest[1:]], (*runner, *before))
        take = 2 if option in _TAKE_VALUE else 1
        before += [field.text for field in rest[:take]]
        rest = rest[take:]
    if not rest or rest[0].text == "-":
        return None
    return _Found((*runner, *before), rest[0], False, tuple(rest[1:]))


def _module(shell: Shell, rest: list[Element], runner: tuple[str, ...]) -> _Found | None:
    if not rest:
        return None
    module = rest[0].text
    if module in _TORCHRUN_MODULES:
        return _torchrun(shell, rest[1:], (*runner, "-m", module))
    if module.partition(".")[0] in _NOT_TRAINERS or module in _NOT_TRAINERS:
        return None
    return _Found(runner, rest[0], True, tuple(rest[1:]))


def _torchrun(shell: Shell, rest: list[Element], runner: tuple[str, ...]) -> _Found | None:
    options: dict[str, Value] = {}
    is_module = False
    while rest and rest[0].text.startswith("-"):
        word = rest.pop(0)
        name, equals, _ = word.text.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if name in ("m", "module"):
            is_module = True
            if equals:
                break
        elif equals:
            options[name] = Value(shell.behind_equals(word))
        elif name in _FLAG_OPTIONS:
            options[name] = Value(EMPTY)
        elif rest:
            options[name] = Value(rest.pop(0).template)
    if not rest:
        return None
    return _Found(runner, rest[0], is_module, tuple(rest[1:]), torchrun=options)


def _wrapped(shell: Shell, fields: list[Element], runner: tuple[str, ...]) -> _Found | None:
    for at in range(1, len(fields)):
        name = os.path.basename(fields[at].text)  # noqa: PTH119
        if _PYTHON.fullmatch(name) or name == "torchrun":
            before = tuple(field.text for field in fields[:at])
            return _recognised(shell, fields[at:], (*runner, *before))
    before = tuple(field.text for field in fields)
    if fields[0].text == "uv" and before[1:2] == ("run",):
        return _uv_alone(shell, fields, runner)
    return None


def _uv_alone(shell: Shell, fields: list[Element], runner: tuple[str, ...]) -> _Found | None:
    """`uv run -m module`, `uv run script.py`."""
    for at in range(2, len(fields) - 1):
        if fields[at].text in ("-m", "--module"):
            return _module(shell, fields[at + 1 :], (*runner, *(field.text for field in fields[:at])))
    for at in range(2, len(fields)):
        if fields[at].text.endswith(".py"):
            return _Found((*runner, *(f.text for f in fields[:at])), fields[at], False, tuple(fields[at + 1 :]))
    return None


def _ray(shell: Shell, fields: list[Element], runner: tuple[str, ...]) -> _Found | None:
    found = submission(shell, fields[3:])
    command, env = list(found.command), list(found.env)
    while command and (command[0].text == "env" or re.match(r"[A-Za-z_]\w*=", command[0].text)):
        word = command.pop(0)
        if word.text != "env":  # the shell of Ray's entrypoint reads `A=b command`
            env.append(Exported(word.text.partition("=")[0], Value(shell.behind_equals(word)), shell.line))
    inner = _recognised(shell, command, (*runner, "ray", "job", "submit", "--"))
    if inner is None and command:
        raise shell.fail("importer.unsupported", what=f"ray job submit -- {command[0].text}"[:60])
    return None if inner is None else replace(inner, submission=replace(found, env=tuple(env)))


# ── what goes with it ────────────────────────────────────────────────────────────────────────────────────────────────


def _argument(element: Element) -> Argument:
    return Argument(Value(element.template), element.line, element.group, element.comments)


def _exported(shell: Shell, found: _Found) -> tuple[Exported, ...]:
    exported = {name: one for name, one in shell.exports().items() if name not in _BASH_OWN}
    if found.submission is not None:
        if exported:
            shell.note("importer.exports_stay", "note", names=", ".join(sorted(exported))[:200])
        exported.update({one.name: one for one in found.submission.env})
    return tuple(exported.values())


def is_device_probe(code: str) -> bool:
    """`python3 -c 'import torch_npu'`: does this machine have NPUs?"""
    return _DEVICE_MODULES.fullmatch(code) is not None
