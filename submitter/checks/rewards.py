"""Where rewards come from: the user's function, the manager that calls it, the reward model."""

from __future__ import annotations

from collections.abc import Iterator

from submitter.checks.algorithm import trains
from submitter.checks.case import Case, NotChecked
from submitter.checks.finding import Finding, Severity
from submitter.checks.reward_file import NEW, OLD, RewardFile
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.errors import Place
from submitter.job.nearest import nearest
from submitter.texts import Phrase

MANAGER = "reward.reward_manager"
OLD_MANAGER = "reward_model.reward_manager"
MODEL = "reward.reward_model"
_ROLLOUT_NAMES = (f"{MODEL}.rollout.name", "reward_model.rollout.name")
"""The engine that answers; the older name counts where it is given."""

_MANAGERS = ("naive", "dapo", "gdpo", "remote")
"""verl/experimental/reward_loop/reward_manager: those of verl/workers/reward_manager (prime, batch) are not called."""


def function(case: Case) -> Iterator[Finding | NotChecked]:
    """Source: verl/trainer/ppo/reward.py, get_custom_reward_fn; verl/utils/import_utils.py (0.7.1 to 0.9.1)."""
    file, settings = case.reward, case.settings
    if file is None or not trains(case):
        return
    place = settings.place(f"{file.key}.path")
    relative = not file.path.removeprefix("file://").startswith("/")
    if file.state == "lost" or (file.state == "absent" and relative):
        yield _file_finding("error" if relative else "warning", place, file, Phrase("NR326.absent"))
    elif file.state in ("unreadable", "syntax"):
        yield _file_finding("error" if file.state == "syntax" else "warning", place, file, file.why)
    elif file.state == "elsewhere" and not file.path.startswith("pkg://"):
        yield _file_finding("warning", place, file, Phrase("NR326.relative"))
    elif file.state in ("absent", "elsewhere"):
        yield NotChecked("NR326", "NR326.unknown", {"path": file.path})


def function_name(case: Case) -> list[Finding]:
    """Source: verl/utils/import_utils.py, load_extern_object: AttributeError (0.7.1 to 0.9.1)."""
    file, settings = case.reward, case.settings
    if file is None or file.name is None or file.defines is None or file.name in file.defines or not trains(case):
        return []
    place = settings.place(f"{file.key}.name", f"{file.key}.path")
    return [Finding("NR327", "error", place, file.name, file.path, {"nearest": nearest(file.name, file.defines)})]


def function_keys(case: Case) -> Iterator[Finding]:
    """Source: verl/experimental/reward_loop/reward_loop.py, migrate_legacy_reward_impl: the old section wins whole."""
    settings, file = case.settings, case.reward
    if not trains(case):
        return
    old = [key for key in (f"{OLD}.path", f"{OLD}.name") if settings.value(key) is not None]
    if file is not None and file.key == OLD and file.name is None:
        what = Phrase("NR328.null", {"name": f"{OLD}.name"})
        at = settings.place(f"{OLD}.name", f"{OLD}.path")
        yield Finding("NR328", "error", at, "null", f"{OLD}.name", {"what": what})
    elif old and settings.is_set(f"{NEW}.path") and settings.value(f"{NEW}.path") is not None:
        at, value = settings.place(f"{NEW}.path"), settings.text(f"{NEW}.path")
        what = Phrase("NR328.lost", {"key": f"{NEW}.path", "value": value, "old": old[0]})
        yield Finding("NR328", "warning", at, value, f"{OLD}.path", {"what": what})


def manager(case: Case) -> list[Finding]:
    """Source: verl/experimental/reward_loop/reward_manager/registry.py (0.7.1 to 0.9.1)."""
    settings = case.settings
    key, name = _manager(settings)
    source = settings.text("reward_model.reward_loop_source") or settings.text(f"{MANAGER}.source")
    if not trains(case) or name is None or name in _MANAGERS or source != "register":
        return []
    own = case.reward is not None or any(flag.name == "VERL_USE_EXTERNAL_MODULES" for flag in case.job.flags)
    values: dict[str, object] = {"nearest": nearest(name, _MANAGERS)}
    return [Finding("NR329", "warning" if own else "error", settings.place(key), name, ", ".join(_MANAGERS), values)]


def no_time_limit(case: Case) -> list[Finding]:
    """Source: verl pull request 6673: no manager of verl's bounds the time of one answer's score."""
    settings, file = case.settings, case.reward
    key, name = _manager(settings)
    asked = file is not None or (name == "naive" and settings.is_set(key))
    if not trains(case) or not asked or name not in ("naive", "dapo") or (file is not None and file.limits_time):
        return []
    place = settings.place(*([f"{file.key}.path"] if file else []), key)
    return [Finding("NR336", "hint", place, file.path if file else name, None, {"manager": name})]


def reward_model(case: Case) -> Iterator[Finding]:
    """Source: verl/trainer/main_ppo.py, trainer/ppo/v1/trainer_base.py: ValueError without nodes (0.7.1 to 0.9.1)."""
    settings = case.settings
    if not trains(case) or not _model_value(settings, "enable"):
        return
    place = settings.place(f"{MODEL}.enable", "reward_model.enable")
    if not settings.value(f"{MODEL}.model_path") and not settings.value("reward_model.model.path"):
        yield Finding("NR339", "error", place, "True", f"{MODEL}.model_path")
    if all(settings.lacks(key) for key in _ROLLOUT_NAMES):
        yield Finding("NR339", "error", settings.place(*_ROLLOUT_NAMES), "null", f"{MODEL}.rollout.name")
    if not _model_value(settings, "enable_resource_pool"):
        return
    for name in ("n_gpus_per_node", "nnodes"):
        count = _model_value(settings, name)
        if isinstance(count, int) and not isinstance(count, bool) and count <= 0:
            places = (f"{MODEL}.{name}", f"reward_model.{name}", f"{MODEL}.enable_resource_pool")
            yield Finding("NR339", "error", settings.place(*places), str(count), f"{MODEL}.{name} > 0")


RULES = (
    Rule("NR326", ("error", "warning"), function, ppo=True),
    Rule("NR327", ("error",), function_name, ppo=True),
    Rule("NR328", ("error", "warning"), function_keys, ppo=True),
    Rule("NR329", ("error", "warning"), manager, ppo=True),
    Rule("NR336", ("hint",), no_time_limit, ppo=True),
    Rule("NR339", ("error",), reward_model, ppo=True),
)


def _file_finding(severity: Severity, place: Place, file: RewardFile, why: Phrase | str) -> Finding:
    return Finding("NR326", severity, place, file.path, values={"why": why})


def _manager(settings: Settings) -> tuple[str, str | None]:
    """The key that decides, and the name."""
    old = settings.text(OLD_MANAGER)
    return (OLD_MANAGER, old) if old is not None else (f"{MANAGER}.name", settings.text(f"{MANAGER}.name"))


def _model_value(settings: Settings, name: str) -> object:
    """The old section's value wins where it is given."""
    old = settings.value(f"reward_model.{name}")
    return settings.value(f"{MODEL}.{name}") if old is None else old
