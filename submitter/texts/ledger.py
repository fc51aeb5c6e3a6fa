"""Texts of the ledger: id -> (English, Chinese)."""

from __future__ import annotations

TEXTS = {
    "ledger.home": (
        "the folder {home} cannot be used ({reason}): set NPURUN_HOME to a folder of your own",
        "无法使用目录 {home}（{reason}）：请将 NPURUN_HOME 设为自己的目录",
    ),
    "ledger.home_of_other": (
        "the folder {home} belongs to another user: set NPURUN_HOME to a folder of your own",
        "目录 {home} 属于其他用户：请将 NPURUN_HOME 设为自己的目录",
    ),
    "ledger.home_shared": (
        "the folder {home} is open to others and holds other files: set NPURUN_HOME to a folder of its own",
        "目录 {home} 对其他用户开放且含有其他文件：请将 NPURUN_HOME 设为一个专用目录",
    ),
    "ledger.readonly": (
        "the ledger cannot be written ({reason}): make its folder writable, or set NPURUN_HOME to another one",
        "无法写入运行记录（{reason}）：请使其目录可写，或将 NPURUN_HOME 设为其他目录",
    ),
    "ledger.full": (
        "the disk of the ledger is full ({reason}): nothing was written, and what was there is kept; free some space",
        "运行记录所在磁盘已满（{reason}）：没有写入任何内容，此前写入的仍在；请清理空间",
    ),
    "ledger.locked": (
        "another process holds the ledger ({reason}): try again",
        "运行记录正被其他进程占用（{reason}）：请重试",
    ),
    "ledger.corrupt": (
        "the ledger is damaged or not a ledger ({reason}): move ledger.db, ledger.db-wal and ledger.db-shm away "
        "together; runs on the cluster are still found by their names",
        "运行记录已损坏或不是 npurun 的记录（{reason}）：请将 ledger.db、ledger.db-wal 与 ledger.db-shm "
        "一并移走；集群上的运行仍可按名字找到",
    ),
    "ledger.newer": (
        "the ledger is of a newer npurun (version {found}, this one knows {known}): update npurun",
        "运行记录由更新版本的 npurun 写入（版本 {found}，当前只支持 {known}）：请升级 npurun",
    ),
    "ledger.older": (
        "the ledger is of an older npurun (version {found}, this one writes {known}) and its folder cannot be written: "
        "make it writable once",
        "运行记录由较旧版本的 npurun 写入（版本 {found}，当前写入版本 {known}），但其目录不可写：请先使其可写一次",
    ),
    "ledger.io": (
        "the ledger cannot be used: {reason}",
        "运行记录无法使用：{reason}",
    ),
    "ledger.network": (
        "the ledger is on a network file system ({filesystem}), where SQLite's WAL does not work: a rollback journal "
        "is used, which is slower; NPURUN_HOME may name a folder on a local disk",
        "运行记录位于网络文件系统（{filesystem}），SQLite 的 WAL 在其上无法工作：改用较慢的回滚日志；可将 NPURUN_HOME "
        "设为本地磁盘上的目录",
    ),
    "ledger.wal_elsewhere": (
        "the ledger is on a network file system ({filesystem}) here, and another process, perhaps on the file server, "
        "has it open as a local file: end that one first, or set NPURUN_HOME to another folder",
        "运行记录在本机上位于网络文件系统（{filesystem}），而另一个进程（可能在文件服务器上）正将其作为本地文件打开：请先结束"
        "该进程，或将 NPURUN_HOME 设为其他目录",
    ),
    "ledger.held": (
        "the ledger {home} is served by a supervisor on host {host} (pid {pid}, last heard of {seconds} s ago): stop "
        "it there, wait until it has been silent for {bound} s, or set NPURUN_HOME to another folder",
        "运行记录 {home} 正由主机 {host} 上的 supervisor 维护（pid {pid}，{seconds} 秒前有心跳）：请在该主机上停止它，"
        "或等它静默 {bound} 秒，或将 NPURUN_HOME 设为其他目录",
    ),
    "ledger.lock_lost": (
        "another supervisor has taken over (host {host}, pid {pid}): this one writes and submits nothing more",
        "另一个 supervisor 已接管（主机 {host}，pid {pid}）：当前的不再写入或提交任何内容",
    ),
    "ledger.attempt_live": (
        "attempt {submission} of run {run} has not ended: no other one is begun",
        "运行 {run} 的尝试 {submission} 尚未结束：不会开始另一次尝试",
    ),
}
