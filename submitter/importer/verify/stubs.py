"""The commands that are no more than recorded, and the program that records them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from submitter.importer.verify.inside.places import RECORDS

RECORDED = (
    *("python", "python2", "python3", *(f"python3.{minor}" for minor in range(6, 16))),
    *("torchrun", "ray", "accelerate", "deepspeed", "uv", "uvx", "poetry", "pixi", "rye", "pdm", "conda", "mamba"),
    *("srun", "sbatch", "mpirun", "mpiexec", "horovodrun", "nsys", "ncu", "msprof", "ascend-dmi", "numactl", "taskset"),
    *(
        "pip",
        "pip3",
        "git",
        "wget",
        "curl",
        "aria2c",
        "hf",
        "huggingface-cli",
        "modelscope",
        "gsutil",
        "aws",
        "obsutil",
    ),
    *(
        "apt",
        "apt-get",
        "yum",
        "dnf",
        "sudo",
        "su",
        "ssh",
        "scp",
        "sftp",
        "rsync",
        "pdsh",
        "docker",
        "podman",
        "kubectl",
    ),
    *(
        "pkill",
        "killall",
        "kill",
        "reboot",
        "shutdown",
        "poweroff",
        "halt",
        "systemctl",
        "service",
        "sysctl",
        "modprobe",
    ),
    *("mount", "umount", "npu-smi", "hccn_tool", "wandb", "swanlab", "tensorboard", "vllm", "jupyter"),
)
SILENT = ("sleep",)
"""They end at once, and nobody asks for them."""
ABSENT = ("nvidia-smi", "rocm-smi", "rocminfo", "nvcc")
"""The script is run for a machine with NPUs: these are not found there."""

_ALSO_SEARCHED = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")

_FULL_PATH = re.compile(r"((?:/[\w.+@-]+)+)/(?:python[0-9.]*|torchrun|ray|uv)(?![\w.-])")
"""The folder of such a command."""

_PROGRAM = """#!{bash} -p
name=${{0##*/}}
[[ $name == sleep ]] && exit 0
set -C
number=0
until {{ exec 3> "{records}/$$.$number"; }} 2> /dev/null; do
  (( number++ < 100 )) || exit 1
done
printf '%s\\0' "$PWD" "$#" "$0" "$@" >&3
{cat} "/proc/$$/environ" >&3
exec 3>&-
printf '%s\\n' "$$.$number" >> "{records}/order"
exit 0
"""
"""`-p`: nothing of the environment that it records changes it (BASH_ENV, SHELLOPTS, functions)."""


def program(bash: str, cat: str) -> str:
    """One file a call, and its name in one short write to the list: calls may overlap."""
    return _PROGRAM.format(bash=bash, cat=cat, records=RECORDS)


def replaced(search_path: str, spelled: Iterable[str]) -> list[tuple[str, bool]]:
    """(file of the machine, whether it is to be absent): scripts may call commands by their full path, too.

    `spelled`: the texts that may name one, as `PYTHON=/opt/venv/bin/python3` does. Only a file that is the command
    itself: `reboot` may be a link to systemctl, `sleep` one to a program of all tools.
    """
    named = [path for text in spelled for path in _FULL_PATH.findall(text)]
    folders = dict.fromkeys([*(one for one in search_path.split(":") if one.startswith("/")), *_ALSO_SEARCHED, *named])
    found = {**_found(folders, RECORDED, False), **_found(folders, ABSENT, True)}
    return sorted(found.items())


def _found(folders: Iterable[str], names: Iterable[str], absent: bool) -> dict[str, bool]:
    paths = [Path(folder, name) for folder in folders for name in names]
    real = {Path(os.path.realpath(path)) for path in paths if os.path.isfile(path)}  # noqa: PTH113 - False also where no one may look
    return {str(path): absent for path in real if path.name.startswith(tuple(names))}
