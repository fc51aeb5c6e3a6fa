"""Names below verl's free dicts that vLLM or Megatron does not know. verl hands them on as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from runtime_env.engine_names import optimizer_names, transformer_names, vllm_compilation, vllm_options
from runtime_env.verl_defaults import version_key
from submitter.arguments.misspelt import misspelt
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.parallel import ACTOR, CRITIC, REF, ROLLOUT
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.texts import NONE, Phrase

_VLLM = f"{ROLLOUT}.engine_kwargs.vllm"
_COMPILATION = f"{_VLLM}.compilation_config"
_NO = "no_"
"""argparse's BooleanOptionalAction: `--no-enable-prefix-caching`."""
ALIKE = 0.8
"""Of difflib's ratio: nearer to a real option, a name that no version has is certainly a mistyped one."""
_RENAMED = {"disable_mm_preprocessor_cache": "mm_processor_cache_gb=0"}
"""Options of vLLM versions older than those that were read, which scripts still carry."""
MOST_COMPARED = 50
"""Names of one job that are compared with all options; hundreds are no mistake of the fingers."""

_SECTIONS = tuple((f"{role}.megatron.override_transformer_config", transformer_names) for role in (ACTOR, REF, CRITIC))
_OPTIMIZERS = tuple((f"{role}.optim.override_optimizer_config", optimizer_names) for role in (ACTOR, CRITIC))


def refused_by_vllm(case: Case) -> Iterator[Finding]:
    """Source: vllm/engine/arg_utils.py, openai/cli_args.py, config/compilation.py (0.13, 0.18, 0.23, 0.26);
    verl vllm_async_server.py gives them to its parser, or to CompilationConfig, which forbid others."""
    if case.settings.text(f"{ROLLOUT}.name") != "vllm":
        return
    for section, known in ((_VLLM, vllm_options()), (_COMPILATION, vllm_compilation())):
        for name in _handed_on(case.settings, section)[:MOST_COMPARED]:
            option = name.replace("-", "_")
            if not _takes(option, known, _version(case)):
                yield _unknown(case, section, name, option, known)


def misspelt_for_megatron(case: Case) -> Iterator[Finding]:
    """Source: megatron-core's TransformerConfig and OptimizerConfig (0.12.1, 0.16.1), MindSpeed's options: verl sets
    what they do not have on the object, where nothing reads it, or the class refuses it."""
    if case.settings.text(f"{ACTOR}.strategy") != "megatron":
        return
    for section, known in (*_SECTIONS, *_OPTIMIZERS):
        for name in _names(case.settings, section)[:MOST_COMPARED]:
            meant = misspelt(name, known())
            if meant is not None:
                place = case.settings.place(f"{section}.{name}")
                yield Finding("NR117", "warning", place, name, values={"nearest": meant})


RULES = (
    Rule("NR116", ("error", "warning"), refused_by_vllm, ppo=True),
    Rule("NR117", ("warning",), misspelt_for_megatron, ppo=True),
)


def _names(settings: Settings, section: str) -> list[str]:
    """That the job sets directly below the section."""
    start = f"{section}."
    return list(dict.fromkeys(key[len(start) :].split(".")[0] for key in settings.given() if key.startswith(start)))


def _handed_on(settings: Settings, section: str) -> list[str]:
    """verl leaves out null, False and empty lists."""
    return [
        name
        for name in _names(settings, section)
        if settings.value(f"{section}.{name}") not in (None, False, []) or settings.below(f"{section}.{name}")
    ]


def _version(case: Case) -> str | None:
    return case.stack.vllm if case.stack else None


def _takes(option: str, known: Mapping[str, tuple[str, ...]], version: str | None) -> bool:
    """argparse takes the beginning of one name as well; CompilationConfig's fields are written out."""
    names = [name for name, versions in known.items() if _in(versions, version)]
    if option in names:
        return True
    plain = option.removeprefix(_NO)
    return known is vllm_options() and (plain in names or sum(name.startswith(plain) for name in names) == 1)


def _in(versions: Iterable[str], version: str | None) -> bool:
    """True also for a version that was not read, if an older or a newer one has the name."""
    key = version_key(version or "")
    return not key or any(version_key(one) == key for one in versions) or key not in map(version_key, _read())


def _read() -> frozenset[str]:
    return frozenset(version for versions in vllm_options().values() for version in versions)


def _unknown(case: Case, section: str, name: str, option: str, known: Mapping[str, tuple[str, ...]]) -> Finding:
    place = case.settings.place(f"{section}.{name}", *_below(case.settings, f"{section}.{name}"))
    having = known.get(option.removeprefix(_NO))
    if having is not None:
        why = Phrase("NR116.elsewhere", {"versions": ", ".join(having)})
        return Finding("NR116", "warning", place, name, values=_values(case, section, NONE, why))
    near = misspelt(option, known, ALIKE)
    severity: Severity = "warning" if near is None else "error"
    near = near or _RENAMED.get(option)
    return Finding("NR116", severity, place, name, values=_values(case, section, near or NONE, Phrase("NR116.nowhere")))


def _below(settings: Settings, prefix: str) -> list[str]:
    return [key for key in settings.given() if key.startswith(f"{prefix}.")]


def _values(case: Case, section: str, nearest: str, why: Phrase) -> dict[str, object]:
    hint = Phrase("NR116.drop") if nearest == NONE else Phrase("NR116.write", {"nearest": nearest})
    return {"version": _version(case) or NONE, "section": section.rpartition(".")[2], "hint": hint, "why": why}
