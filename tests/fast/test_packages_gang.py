"""The zip that carries npurun's own code to the cluster."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from submitter.cluster.packages import Package, gang_package, write_archive, write_folder
from submitter.errors import UsageError
from submitter.gang.plan import Plan
from submitter.render.plan import plan
from tests.support.builders import job

MADE = job(flags={"A": "1"}, groups={"x": {"a.b": "it's $(x); 中文\n"}})


@pytest.fixture(scope="module")
def package() -> Package:
    return gang_package(plan(MADE))


def names(package: Package) -> list[str]:
    with zipfile.ZipFile(BytesIO(package.data)) as archive:
        return archive.namelist()


def absolute_imports(source: bytes) -> set[str]:
    """The top-level names that a module imports absolutely, at any depth of it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_equal_plans_make_equal_bytes_whenever_and_whatever_the_files_dates(package: Package) -> None:
    assert gang_package(plan(MADE)) == package
    assert gang_package(plan(job(flags={"A": "2"}))).name != package.name


def test_it_is_named_and_addressed_as_ray_s_own_packages(package: Package) -> None:
    assert package.uri == f"gcs://{package.name}"
    assert package.name.startswith("_ray_pkg_") and package.name.endswith(".zip")


def test_it_holds_one_top_level_package_with_its_plan_and_no_leavings(package: Package) -> None:
    held = names(package)
    assert held == sorted(held)
    assert {name.split("/")[0] for name in held} == {"npurun_gang"}
    assert {"npurun_gang/__init__.py", "npurun_gang/plan.json", "npurun_gang/plan.py"} <= set(held)
    assert not [name for name in held if "__pycache__" in name or name.endswith(".pyc") or "/tests/" in name]


def test_dates_and_modes_are_fixed(package: Package) -> None:
    with zipfile.ZipFile(BytesIO(package.data)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o100644}


def test_the_plan_comes_back_as_it_went(package: Package) -> None:
    with zipfile.ZipFile(BytesIO(package.data)) as archive:
        assert Plan.from_json(archive.read("npurun_gang/plan.json").decode()) == plan(MADE)


def test_further_packages_travel_beside_it(tmp_path: Path, package: Package) -> None:
    for name in ("__init__.py", "sub/data.json", "tests/test_x.py", "__pycache__/x.pyc", ".hidden"):
        (tmp_path / "cpu" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cpu" / name).write_text("{}")
    with_extra = gang_package(plan(MADE), {"npurun_cpu": tmp_path / "cpu"})
    assert sorted(set(names(with_extra)) - set(names(package))) == [
        "npurun_cpu/__init__.py",
        "npurun_cpu/sub/data.json",
    ]
    assert with_extra.name != package.name


def test_it_is_made_within_100_ms() -> None:
    gang_package(plan(MADE))
    start = time.perf_counter()
    gang_package(plan(MADE))
    assert time.perf_counter() - start < 0.1


def test_making_it_does_not_import_ray() -> None:
    code = (
        "import sys; from submitter.cluster.packages import gang_package; from submitter.gang.plan import Plan;"
        " gang_package(Plan('ray', ('x',), 1, 1, {}, {}));"
        " print([m for m in ('ray', 'torch', 'hydra') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"


def test_its_modules_import_nothing_of_the_project_by_name(package: Package) -> None:
    with zipfile.ZipFile(BytesIO(package.data)) as archive:
        for name in [name for name in archive.namelist() if name.endswith(".py")]:
            assert not {"submitter", "runtime_env", "jobs", "tests"} & absolute_imports(archive.read(name)), name


def test_user_folders_named_as_npurun_s_rooms_neither_shadow_nor_are_shadowed(tmp_path: Path, package: Package) -> None:
    """As in a worker of the job: the package is on PYTHONPATH, the user's working_dir is the current folder."""
    shipped = write_folder(package, tmp_path / "shipped")
    user = tmp_path / "user"
    for room in ("jobs", "submitter", "runtime_env", "gang"):
        (user / room).mkdir(parents=True)
        (user / room / "__init__.py").write_text("OWNER = 'user'\n")
    code = (
        "import json, jobs, submitter, runtime_env, gang, npurun_gang.plan as plan, pathlib;"
        "path = pathlib.Path(plan.__file__).with_name('plan.json');"
        "read = plan.Plan.from_json(path.read_text(encoding='utf-8'));"
        "print(json.dumps([jobs.OWNER, submitter.OWNER, runtime_env.OWNER, gang.OWNER, read.command[-1]]))"
    )
    env = {"PYTHONPATH": str(shipped), "PATH": os.environ["PATH"], "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=user, env=env, capture_output=True, text=True, timeout=30, check=True
    )
    assert json.loads(done.stdout) == ["user"] * 4 + [plan(MADE).command[-1]]


def test_a_folder_is_written_again_over_itself_but_not_over_something_else(tmp_path: Path, package: Package) -> None:
    write_folder(package, tmp_path)
    write_folder(gang_package(plan(job(flags={"A": "2"}))), tmp_path)  # another plan, same files
    (tmp_path / "beside.txt").write_text("")
    (tmp_path / "npurun_gang" / "old_module.py").write_text("")
    with pytest.raises(UsageError) as refused:
        write_folder(package, tmp_path)
    assert "old_module.py" in str(refused.value)


def test_an_archive_is_written_under_its_name(tmp_path: Path, package: Package) -> None:
    path = write_archive(package, tmp_path / "new")
    assert path == tmp_path / "new" / package.name
    assert path.read_bytes() == package.data
