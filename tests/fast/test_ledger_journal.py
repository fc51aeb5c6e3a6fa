"""WAL where SQLite may use it, a rollback journal on file systems that hosts share, also for files that were WAL."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from submitter.ledger import Journal, Ledger, LedgerError
from submitter.ledger.mounts import filesystem, is_network
from submitter.texts import LANGUAGES, text
from tests.support.ledgers import ended, intend, start

NETWORK = "nfs nfs4 cifs smb3 smbfs fuse.sshfs fuse.glusterfs fuse.juicefs lustre gpfs ceph 9p virtiofs beegfs dpc"
LOCAL = "ext4 xfs btrfs zfs tmpfs overlay fuseblk vfat f2fs"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home of npurun"


def mounted(folder: Path, kind: str, tmp_path: Path) -> Path:
    """A mountinfo in which `folder` is on a file system of that kind, and all else on ext4."""
    point = str(folder).replace("\\", "\\134").replace(" ", "\\040").replace("\n", "\\012").replace("\t", "\\011")
    table = tmp_path / "mountinfo"
    table.write_text(
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
        "28 27 0:22 / /sys rw shared:7 - sysfs sysfs rw\n"
        f"36 27 0:50 /export {point} rw,noatime shared:1 master:2 - {kind} server:/export rw,vers=4\n"
        f"37 27 0:51 / {point}-other rw - sysfs sysfs rw\n"
    )
    return table


def mode(home: Path) -> str:
    """As the file says, not as SQLite makes it."""
    return {1: "delete", 2: "wal"}[(home / "ledger.db").read_bytes()[18]]


def test_a_local_ledger_uses_wal_and_says_nothing(home: Path) -> None:
    ledger = Ledger(home)
    assert ledger.journal == Journal("wal", filesystem(home)) and ledger.journal.warning is None
    assert ledger._database.read("PRAGMA foreign_keys") == [(1,)]
    intend(ledger)
    wal = home / "ledger.db-wal"
    assert mode(home) == "wal" and wal.stat().st_size > 0
    assert {path.stat().st_mode & 0o077 for path in home.iterdir()} == {0}
    ledger.close()


@pytest.mark.parametrize("kind", NETWORK.split())
def test_on_a_network_file_system_it_is_a_rollback_journal_with_a_warning(
    home: Path, tmp_path: Path, kind: str
) -> None:
    ledger = Ledger(home, mountinfo=mounted(home, kind, tmp_path))
    intend(ledger)
    assert mode(home) == "delete" and [path.name for path in home.iterdir()] == ["ledger.db"]
    warning = ledger.journal.warning
    assert ledger.journal == Journal("delete", kind) and warning is not None
    assert all(kind in text(warning.id, language, **warning.values) for language in LANGUAGES)
    assert ledger._database.read("PRAGMA synchronous") == [(2,)]
    ledger.observe("run-a1", state="RUNNING", last_step=1, log_bytes=1, now_ms=1)
    assert ledger._database.read("PRAGMA synchronous") == [(2,)]  # its journal is no journal without a sync
    ledger.close()


@pytest.mark.parametrize("kind", LOCAL.split())
def test_other_file_systems_are_local(home: Path, tmp_path: Path, kind: str) -> None:
    ledger = Ledger(home, mountinfo=mounted(home, kind, tmp_path))
    assert ledger.journal == Journal("wal", kind)
    ledger.close()


def test_a_system_that_does_not_tell_is_taken_for_local(home: Path, tmp_path: Path) -> None:
    ledger = Ledger(home, mountinfo=tmp_path / "none")
    assert ledger.journal == Journal("wal", "") and ledger.journal.warning is None
    ledger.close()


class TestMounts:
    @pytest.mark.parametrize("name", ["plain", "with space", "back\\slash", "new\nline", "tab\t", "中", "$x;'\""])
    def test_the_longest_mount_point_counts(self, tmp_path: Path, name: str) -> None:
        folder = tmp_path / name
        (folder / "below").mkdir(parents=True)
        table = mounted(folder, "nfs4", tmp_path)
        assert filesystem(folder / "below", table) == filesystem(folder, table) == "nfs4"
        assert filesystem(tmp_path, table) == "ext4"

    def test_what_is_behind_a_link_counts(self, tmp_path: Path) -> None:
        (tmp_path / "there").mkdir()
        (tmp_path / "link").symlink_to("there")
        assert filesystem(tmp_path / "link", mounted(tmp_path / "there", "nfs4", tmp_path)) == "nfs4"

    def test_a_later_mount_covers_an_earlier_one(self, tmp_path: Path) -> None:
        table = mounted(tmp_path, "autofs", tmp_path)
        with table.open("a") as more:
            more.write(f"99 36 0:60 / {tmp_path} rw - nfs4 server:/ rw\n40 27 0:70 / / rw - xfs /dev/b rw\n")
        assert (filesystem(tmp_path, table), filesystem(Path("/"), table)) == ("nfs4", "xfs")

    def test_this_machines_own_table(self) -> None:
        assert filesystem(Path("/proc/self")) == "proc"
        assert filesystem(Path("/")) not in ("", "proc")

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(said=st.text(alphabet="ab -/\n\\0123", max_size=200))
    def test_any_table_is_read(self, said: str, tmp_path: Path) -> None:
        (tmp_path / "table").write_text(said)
        assert filesystem(tmp_path, tmp_path / "table") in said

    def test_kinds(self) -> None:
        assert all(map(is_network, NETWORK.split())) and not any(
            map(is_network, [*LOCAL.split(), "", "fuse", "nfsd2x"])
        )


class TestChangedPlace:
    def test_a_file_that_was_wal_is_whole_after_the_move(self, home: Path, tmp_path: Path) -> None:
        """Also what was only in its WAL file, since the process that wrote it was killed."""
        code = "intend(Ledger(Path(sys.argv[1])))\nos.kill(os.getpid(), 9)"
        with ended(start(code, home)) as writer:
            assert writer.wait(timeout=30) == -9
        assert (home / "ledger.db-wal").stat().st_size > 0 and mode(home) == "wal"
        (home / "ledger.db-shm").unlink()
        (home / "ledger.db-shm").mkdir()  # no memory can be shared here
        ledger = Ledger(home, mountinfo=mounted(home, "nfs4", tmp_path))
        assert list(ledger.runs()) == ["run"] and ledger.journal.mode == mode(home) == "delete"
        intend(ledger, "more")
        assert not (home / "ledger.db-wal").exists() and len(ledger.runs()) == 2
        ledger.close()

    def test_once_shared_it_keeps_the_rollback_journal_on_the_file_server_too(self, home: Path, tmp_path: Path) -> None:
        """There the folder is local. WAL for it would be WAL for the other hosts."""
        far = Ledger(home, mountinfo=mounted(home, "nfs4", tmp_path))
        near = Ledger(home)
        assert near.journal.mode == "delete" and mode(home) == "delete"
        intend(far)
        intend(near, "more")
        assert sorted(far.runs()) == sorted(near.runs()) == ["more", "run"]
        assert mode(home) == "delete"
        far.close()
        near.close()

    def test_one_that_another_process_has_open_as_a_local_file_is_refused(
        self, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("submitter.ledger.database.BUSY_WAIT_S", 0.05)
        code = "ledger = Ledger(Path(sys.argv[1]))\nintend(ledger)\nprint('open')\nsys.stdin.read()"
        table = mounted(home, "nfs4", tmp_path)
        with ended(start(code, home)) as other:
            assert other.stdout is not None and other.stdout.readline() == "open\n"
            with pytest.raises(LedgerError) as caught:
                Ledger(home, mountinfo=table)
            assert caught.value.text_id == "ledger.wal_elsewhere"
            assert mode(home) == "wal"
        ledger = Ledger(home, mountinfo=table)
        assert list(ledger.runs()) == ["run"]
        ledger.close()

    def test_a_busy_one_is_only_busy(self, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        table = mounted(home, "nfs4", tmp_path)
        Ledger(home, mountinfo=table).close()
        monkeypatch.setattr("submitter.ledger.database.BUSY_WAIT_S", 0.05)
        holder = sqlite3.connect(home / "ledger.db", isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError) as caught:
            Ledger(home, mountinfo=table)
        assert caught.value.text_id == "ledger.locked"
        holder.close()

    def test_processes_on_a_network_file_system_lose_nothing(self, home: Path, tmp_path: Path) -> None:
        code = (
            "for n in range(10):\n"
            "    ledger = Ledger(Path(sys.argv[1]), mountinfo=Path(sys.argv[2]))\n"
            "    intend(ledger, f'run-{sys.argv[3]}-{n}')\n"
            "    ledger.close()"
        )
        table = mounted(home, "nfs4", tmp_path)
        writers = [start(code, home, table, number) for number in range(4)]
        try:
            assert [writer.wait(timeout=50) for writer in writers] == [0] * 4
        finally:
            for writer in writers:
                with ended(writer):
                    pass
        ledger = Ledger(home, mountinfo=table)
        assert len(ledger.runs()) == 40
        ledger.close()


def test_a_ledger_of_version_two_becomes_wal_though_others_look_at_it(home: Path) -> None:
    Ledger(home).close()
    reader = sqlite3.connect(home / "ledger.db")
    reader.execute("PRAGMA journal_mode = DELETE")
    assert reader.execute("SELECT count(*) FROM runs").fetchone() == (0,) and mode(home) == "delete"
    ledger = Ledger(home)
    intend(ledger)
    assert mode(home) == "wal" and reader.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    reader.close()
    ledger.close()


def test_one_that_is_busy_all_the_time_stays_as_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(home).close()
    reader = sqlite3.connect(home / "ledger.db", isolation_level=None)
    reader.execute("PRAGMA journal_mode = DELETE")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM runs").fetchall()
    monkeypatch.setattr("submitter.ledger.database.BUSY_WAIT_S", 0.05)
    ledger = Ledger(home)
    assert ledger.journal.mode == "delete" and ledger.runs() == {}
    reader.close()
    intend(ledger)
    ledger.close()
