"""What a second attempt would find: checkpoints that are written, whole, in reach of every node, and used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runtime_env.verl_defaults import version_key
from submitter.checks import parallel
from submitter.checks.case import Case, NotChecked
from submitter.checks.checkpoint_files import LOCAL_DIR, RESUME_MODE, RESUME_PATH, Checkpoint
from submitter.checks.finding import Finding, Severity
from submitter.checks.roles import needs_critic
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.errors import Place
from submitter.gang.attempt_safe import FIRST, LOGGER_PATH, LOGGER_ROOT, attempt_safe
from submitter.texts import Phrase

SAVE_FREQ = "trainer.save_freq"
STEPS = "trainer.total_training_steps"
CHECKPOINT = "actor_rollout_ref.actor.checkpoint"
KEEP = "trainer.max_actor_ckpt_to_keep"
KEEP_OLD = "trainer.remove_previous_ckpt_in_save"
HDFS = "trainer.default_hdfs_dir"

RESUME_MODES = ("auto", "disable", "resume_path")
MISSING_NAMED = 8
"""Ranks in one message."""

_MEMORY = ("/tmp/", "/var/tmp/", "/dev/shm/", "/run/")
"""On every host the node's own, and often emptied when a container ends."""
_HOMES = ("/root/", "/home/")
"""The node's own on most clusters, shared on some."""
_CALLED_LOCAL = re.compile(r"/local([-_]?(disk|ssd|nvme|data|storage|scratch))?\d*/", re.IGNORECASE)
_SHARDED = ("fsdp", "fsdp2", "veomni")
"""Strategies that save one file a rank, named by the world size (FSDPCheckpointManager)."""
_NEW_LAYOUT_SINCE = (0, 9, 0)
_NEW_LAYOUT, _OLD_LAYOUT = {"model", "optimizer", "extra"}, ("dist_ckpt", "huggingface")
"""Folders of a Megatron checkpoint's `actor` since verl 0.9, and before."""
_FILES_OF = {"model": "model", "optimizer": "optim", "extra": "extra_state"}
"""What `load_contents` asks for → the files' names."""


def nothing_saved(case: Case) -> list[Finding]:
    """Source: verl/trainer/ppo/ray_trainer.py, fit: saves only when save_freq > 0; the default is -1."""
    every = case.settings.integer(SAVE_FREQ)
    if not _retries(case) or case.job.recovery.from_start or every is None or every > 0:
        return []
    place = case.settings.place(SAVE_FREQ)
    return [Finding("NR361", "warning", place, str(every), "> 0", {"attempts": case.job.recovery.max_attempts})]


def saved_too_late(case: Case) -> list[Finding]:
    """Source: ray_trainer.py, fit: every save_freq steps, and at the last step."""
    every, steps = case.settings.integer(SAVE_FREQ), case.settings.integer(STEPS)
    if not _retries(case) or not every or not steps or not 0 < steps <= every:
        return []
    return [Finding("NR362", "warning", case.settings.place(SAVE_FREQ, STEPS), str(every), str(steps))]


def resume_disabled(case: Case) -> list[Finding]:
    """Source: ray_trainer.py, _load_checkpoint: returns at once when resume_mode is disable."""
    if not _retries(case) or case.settings.text(RESUME_MODE) != "disable":
        return []
    return [Finding("NR363", "warning", case.settings.place(RESUME_MODE), "disable", "auto")]


def relative_folder(case: Case) -> list[Finding]:
    """Source: ray_trainer.py joins it to os.getcwd(): Ray's folder for the job on one node, which Ray removes."""
    folder = case.settings.text(LOCAL_DIR)
    if not folder or folder.startswith(("/", "~")) or "://" in folder or not _saves(case.settings):
        return []
    return [Finding("NR364", "warning", case.settings.place(LOCAL_DIR, SAVE_FREQ), folder)]


def node_local_folder(case: Case) -> list[Finding | NotChecked]:
    """Source: verl's Ascend FAQ (common.pt is only on the saving node), NVIDIA/Megatron-LM#1530, verl#4024."""
    folder = (case.settings.text(LOCAL_DIR) or "") + "/"
    if case.job.cluster.nodes < 2 or not (_saves(case.settings) or case.settings.text(RESUME_MODE) == "resume_path"):
        return []
    severity, path = _locality(folder), folder.rstrip("/")
    if severity is not None:
        return [Finding("NR365", severity, case.settings.place(LOCAL_DIR), path, str(case.job.cluster.nodes))]
    return [NotChecked("NR365", "NR365.unknown", {"path": path})] if folder.startswith("/") and path else []


def optimizer_not_saved(case: Case) -> list[Finding]:
    """Source: verl/utils/checkpoint/*_checkpoint_manager.py: what is not saved is not loaded, and nothing says so."""
    key = f"{CHECKPOINT}.save_contents"
    saved = _words(case.settings, key)
    missing = [one for one in ("model", "optimizer") if one not in saved]
    given = saved or case.settings.value(key) == []
    if not _saves(case.settings) or not given or not missing:
        return []
    severity: Severity = "warning" if _retries(case) else "hint"
    lost = Phrase("NR366.model" if "model" in missing else "NR366.optimizer")
    return [
        Finding(
            "NR366",
            severity,
            case.settings.place(key),
            f"[{', '.join(saved)}]",
            ", ".join(missing),
            {"lost": lost},
        )
    ]


def loads_what_is_not_saved(case: Case) -> list[Finding]:
    """Source: fsdp_checkpoint_manager.py opens optim_world_size_…, megatron's asserts the key: both fail at resume."""
    saved, loaded = (_words(case.settings, f"{CHECKPOINT}.{name}_contents") for name in ("save", "load"))
    missing = [one for one in loaded if one in _FILES_OF and one not in saved]
    if not saved or not missing or not _saves(case.settings) or not _resumes(case):
        return []
    place = case.settings.place(f"{CHECKPOINT}.load_contents", f"{CHECKPOINT}.save_contents")
    severity: Severity = "error" if _retries(case) else "warning"
    return [Finding("NR367", severity, place, ", ".join(loaded), ", ".join(saved), {"missing": ", ".join(missing)})]


def async_save(case: Case) -> list[Finding]:
    """Source: ray_trainer.py leaves latest_checkpointed_iteration.txt to Megatron's manager when async_save is set."""
    key = f"{CHECKPOINT}.async_save"
    strategy = case.settings.text(f"{parallel.ACTOR}.strategy")
    if case.settings.truth(key) is not True or strategy not in _SHARDED or not _saves(case.settings):
        return []
    return [Finding("NR368", "warning", case.settings.place(key), "True", strategy)]


def resume_path(case: Case) -> list[Finding]:
    """Source: ray_trainer.py and v1/trainer_base.py, _load_checkpoint: two asserts, then int() of what follows."""
    mode, path = case.settings.text(RESUME_MODE), case.settings.value(RESUME_PATH)
    if mode != "resume_path":
        return []
    if path is None and case.settings.is_set(RESUME_PATH):
        return []  # cannot be told here
    _, named, step = path.rpartition("global_step_") if isinstance(path, str) else ("", "", "")
    if named and step.isdigit():
        return []
    return [Finding("NR369", "error", case.settings.place(RESUME_PATH, RESUME_MODE), str(path))]


def resume_mode(case: Case) -> list[Finding]:
    """Source: _load_checkpoint knows auto, disable and resume_path; any other is an exception at the first start."""
    mode = case.settings.text(RESUME_MODE)
    if mode is None or mode in RESUME_MODES:
        return []
    return [Finding("NR370", "error", case.settings.place(RESUME_MODE), mode, ", ".join(RESUME_MODES))]


def other_world(case: Case) -> list[Finding]:
    """Source: fsdp_checkpoint_manager.py opens model_world_size_<world>_rank_<rank>.pt of its own world."""
    found, world = case.checkpoint, parallel.world_size(case.settings)
    if not _sharded(case) or found is None or not found.actor or world is None:
        return []
    model = found.actor.get("model") or next(iter(found.actor.values()))
    if model.world == world:
        return []
    place = case.settings.place(found.key, "trainer.nnodes", "trainer.n_gpus_per_node")
    return [Finding("NR371", "error", place, str(model.world), str(world), {"folder": found.folder})]


def incomplete(case: Case) -> list[Finding]:
    """Source: verl#4024, RLinf#1469: each rank opens its own files; a run that was killed left only some of them."""
    found = case.checkpoint
    if found is None or not found.present or other_world(case):
        return []
    lacks = ", ".join(_lacks(case, found))
    if not lacks:
        return []
    return [Finding("NR372", "error", case.settings.place(found.key), found.folder, None, {"lacks": lacks})]


def data_state_missing(case: Case) -> list[Finding]:
    """Source: ray_trainer.py warns and starts the data from its beginning when data.pt is not there."""
    found = case.checkpoint
    if found is None or not found.present or found.data_state or incomplete(case):
        return []
    return [Finding("NR373", "warning", case.settings.place(found.key), found.folder, "data.pt")]


def checkpoint_gone(case: Case) -> list[Finding]:
    """Source: find_latest_ckpt_path returns nothing then (training starts at step 0); resume_path fails."""
    found = case.checkpoint
    if found is None or found.present:
        return []
    severity: Severity = "error" if found.key == RESUME_PATH else "warning"
    return [Finding("NR374", severity, case.settings.place(found.key), found.folder)]


def keeps_one(case: Case) -> list[Finding]:
    """Source: verl#4873; checkpoint_manager.py removes the older one before data.pt and the tracker are written."""
    keep, old = case.settings.integer(KEEP), case.settings.truth(KEEP_OLD)
    if not _saves(case.settings) or (keep != 1 and not old):
        return []
    key = KEEP_OLD if old else KEEP
    severity: Severity = "warning" if _retries(case) else "hint"
    return [Finding("NR375", severity, case.settings.place(key), "True" if old else "1", "2", {"name": key})]


def logger_per_attempt(case: Case) -> list[Finding]:
    """Source: verl/utils/tracking.py, FileLogger opens with "wb"; gang/attempt_safe.py gives each attempt its file."""
    path, place = _logger(case)
    if not _retries(case) or path is None or not path.startswith("/"):
        return []
    return [Finding("NR376", "hint", place, path, _logger(case, attempt=2)[0])]


def logger_relative(case: Case) -> list[Finding]:
    """Source: verl/utils/tracking.py, FileLogger: below the trainer's own folder, which Ray makes and removes."""
    path, place = _logger(case)
    if path is None or path.startswith(("/", "~")):
        return []
    return [Finding("NR377", "warning", place, path)]


def hdfs_resume(case: Case) -> list[Finding]:
    """Source: _load_checkpoint of ray_trainer.py and of the fully asynchronous trainer: NotImplementedError."""
    folder = case.settings.text(HDFS)
    if not folder or case.settings.text(RESUME_MODE) == "disable" or _is_v1(case):
        return []
    return [Finding("NR378", "error", case.settings.place(HDFS), folder, str(case.settings.text(RESUME_MODE)))]


def old_layout(case: Case) -> list[Finding]:
    """Source: verl 0.9, megatron_checkpoint_manager.py, _raise_for_old_layout: a RuntimeError before anything loads."""
    found = case.checkpoint
    if found is None or version_key(case.settings.release) < _NEW_LAYOUT_SINCE:
        return []
    if case.settings.text(f"{parallel.ACTOR}.strategy") != "megatron" or set(found.others) & _NEW_LAYOUT:
        return []
    old = [name for name in _OLD_LAYOUT if name in found.filled]
    if not old:
        return []
    return [
        Finding("NR379", "error", case.settings.place(found.key), found.folder, case.settings.release, {"old": old[0]})
    ]


RULES = (
    Rule("NR361", ("warning",), nothing_saved, ppo=True),
    Rule("NR362", ("warning",), saved_too_late, ppo=True),
    Rule("NR363", ("warning",), resume_disabled, ppo=True),
    Rule("NR364", ("warning",), relative_folder, ppo=True),
    Rule("NR365", ("warning", "hint"), node_local_folder, ppo=True),
    Rule("NR366", ("warning", "hint"), optimizer_not_saved, ppo=True),
    Rule("NR367", ("error", "warning"), loads_what_is_not_saved, ppo=True),
    Rule("NR368", ("warning",), async_save, ppo=True),
    Rule("NR369", ("error",), resume_path, ppo=True),
    Rule("NR370", ("error",), resume_mode, ppo=True),
    Rule("NR371", ("error",), other_world, ppo=True),
    Rule("NR372", ("error",), incomplete, ppo=True),
    Rule("NR373", ("warning",), data_state_missing, ppo=True),
    Rule("NR374", ("error", "warning"), checkpoint_gone, ppo=True),
    Rule("NR375", ("warning", "hint"), keeps_one, ppo=True),
    Rule("NR376", ("hint",), logger_per_attempt, ppo=True),
    Rule("NR377", ("warning",), logger_relative, ppo=True),
    Rule("NR378", ("error",), hdfs_resume, ppo=True),
    Rule("NR379", ("error",), old_layout, ppo=True),
)


def _retries(case: Case) -> bool:
    """The job asks for further attempts that go on where the last one ended."""
    recovery = case.job.recovery
    return recovery.declared and recovery.max_attempts > 1 and recovery.resume


def _saves(settings: Settings) -> bool:
    every = settings.integer(SAVE_FREQ)
    return every is not None and every > 0


def _resumes(case: Case) -> bool:
    return case.settings.text(RESUME_MODE) != "disable"


def _sharded(case: Case) -> bool:
    return case.settings.text(f"{parallel.ACTOR}.strategy") in _SHARDED


def _words(settings: Settings, key: str) -> list[str]:
    return [item for item in settings.items(key) if isinstance(item, str)]


def _locality(folder: str) -> Severity | None:
    """How sure it is that only one node has it."""
    if folder.startswith(_MEMORY) or _CALLED_LOCAL.search(folder):
        return "warning"
    return "hint" if folder.startswith((*_HOMES, "~")) else None


def _lacks(case: Case, found: Checkpoint) -> Iterator[str]:
    if found.actor is None:
        yield "actor"
    elif _sharded(case):
        wanted = [_FILES_OF[one] for one in _words(case.settings, f"{CHECKPOINT}.load_contents") if one in _FILES_OF]
        yield from (one for kind in wanted for one in _lacks_of(found, kind))
    elif case.settings.text(f"{parallel.ACTOR}.strategy") == "megatron":
        yield from (f"actor/{name}" for name in found.unlabelled)
        if not found.actor and not found.others:
            yield "actor/*"
    if found.actor is not None and not found.critic and needs_critic(case.settings):
        yield "critic"


def _lacks_of(found: Checkpoint, kind: str) -> Iterator[str]:
    shards = (found.actor or {}).get(kind)
    if shards is None:
        yield f"actor/{kind}_world_size_*.pt"
        return
    missing = shards.missing
    if missing:
        more = " …" if len(missing) > MISSING_NAMED else ""
        ranks = ", ".join(map(str, missing[:MISSING_NAMED])) + more
        yield f"actor/{kind}_world_size_{shards.world}_rank_{{{ranks}}}.pt ({len(missing)} / {shards.world})"
    yield from (f"actor/{name} (0 B)" for name in shards.empty[:MISSING_NAMED])


def _logger(case: Case, attempt: int = FIRST) -> tuple[str | None, Place]:
    """The file of the logger `file`, as that attempt opens it; None when it is not used or cannot be told."""
    settings = case.settings
    place = settings.place("trainer.logger")
    if "file" not in _words(settings, "trainer.logger"):
        return None, place
    flags = attempt_safe({flag.name: flag.value for flag in case.job.flags}, attempt)
    named = case.job.flag(LOGGER_PATH) or case.job.flag(LOGGER_ROOT)
    place = named.place if named else place
    if LOGGER_PATH in flags:
        return flags[LOGGER_PATH], place
    names = [settings.text(f"trainer.{name}") for name in ("project_name", "experiment_name")]
    if None in names:
        return None, place
    return f"{flags.get(LOGGER_ROOT, '.').rstrip('/')}/{names[0]}/{names[1]}.jsonl", place


def _is_v1(case: Case) -> bool:
    """The trainers that save to HDFS and load from the local folder: v1, and the module it was in 0.8.0."""
    settings = case.settings
    if settings.config.startswith(("fully_async", "one_step")):
        return False
    if case.job.trainer.module == "verl.trainer.main_ppo_sync":
        return True
    return version_key(settings.release) >= (0, 9, 0) and settings.truth("trainer.use_v1") is not False
