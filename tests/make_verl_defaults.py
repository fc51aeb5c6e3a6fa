"""Writes runtime_env/verl/<release>.json from verl's own config trees: `python -m tests.make_verl_defaults FOLDER…`.

FOLDER holds a verl package (a wheel's content): `FOLDER/verl/trainer/config/…`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from runtime_env import verl_defaults
from runtime_env.verl_defaults import DEFAULT_CONFIG, DEFAULT_ENGINE

_CONFIGS = ("ppo_megatron_trainer",)
_EXPERIMENTS = (
    "fully_async_policy/config/fully_async_ppo_trainer",
    "fully_async_policy/config/fully_async_ppo_megatron_trainer",
    "one_step_off_policy/config/one_step_off_ppo_trainer",
    "one_step_off_policy/config/one_step_off_ppo_megatron_trainer",
)


def snapshot(package: Path) -> dict[str, object]:
    """What `runtime_env/verl/<release>.json` holds, for the `verl` package in this folder."""
    trainer = package / "trainer" / "config"
    engines = ["", *sorted(path.stem for path in (trainer / "model_engine").glob("*.yaml"))]
    bases = {engine: _flat(trainer, DEFAULT_CONFIG, engine, trainer) or {} for engine in engines}
    table: dict[str, object] = {}
    for engine, values in bases.items():
        table[f"{DEFAULT_CONFIG}+{engine}"] = _change({} if engine == DEFAULT_ENGINE else bases[DEFAULT_ENGINE], values)
    for config in (*(trainer / name for name in _CONFIGS), *(package / "experimental" / name for name in _EXPERIMENTS)):
        for engine in engines:
            values = _flat(config.parent, config.name, engine, trainer)
            if values is not None:
                table[f"{config.name}+{engine}"] = _change(bases[engine], values)
    return dict(sorted(table.items()))


def _change(base: dict[str, object], values: dict[str, object]) -> dict[str, object]:
    changed = {key: value for key, value in values.items() if key not in base or base[key] != value}
    return {"set": changed, "gone": sorted(set(base) - set(values))}


def _flat(folder: Path, config: str, engine: str, trainer: Path) -> dict[str, object] | None:
    """None: this config cannot be composed with that engine."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf

    overrides = [f"hydra.searchpath=[file://{trainer}]"] if folder != trainer else []
    with initialize_config_dir(str(folder.absolute()), version_base=None):
        try:
            composed = compose(config, overrides=[*overrides, *([f"model_engine={engine}"] if engine else [])])
        except HydraException:
            return None
    return dict(sorted(flat_leaves("", OmegaConf.to_container(composed, resolve=False))))


def flat_leaves(prefix: str, value: object) -> list[tuple[str, object]]:
    if not isinstance(value, dict) or (not value and prefix):
        return [(prefix, value)]
    return [
        leaf
        for name, inner in value.items()
        for leaf in flat_leaves(f"{prefix}.{name}" if prefix else str(name), inner)
    ]


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        target = Path(verl_defaults.__file__).parent / "verl" / f"{folder.name}.json"
        target.write_text(json.dumps(snapshot(folder / "verl"), indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        print(target, target.stat().st_size)


if __name__ == "__main__":
    main()
