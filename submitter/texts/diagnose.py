"""Texts of `npurun diagnose` and of logs that cannot be read: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.diagnose.short": ("Why a run or a log ended as it did", "说明一次运行或一份日志为何如此结束"),
    "cli.diagnose.help": (
        "Say why an attempt ended: the root cause, the node at fault, the lines that prove it, what to do. / LOG is a "
        "file, a folder of logs, or - for standard input: plain, gzip, bzip2 or xz; the driver's log, workers' logs "
        "and Ascend plog files, any number of them. In their place, a RUN's name (or RUN/a2, its second attempt) reads "
        "the log on the cluster. / A failure that is not known is called unknown, with the likeliest lines. The exit "
        "code is 0 when the log could be read, whatever it says.",
        "说明一次尝试为何结束：根本原因、责任节点、作为证据的日志行以及处理办法。 / LOG 是文件、日志目录，"
        "或用 - 表示标准输入：纯文本、gzip、bzip2 或 xz；driver 日志、worker 日志和昇腾 plog 文件，份数不限。"
        "也可以改为给出运行名（或 RUN/a2 表示第二次尝试），从集群读取其日志。 / "
        "无法识别的失败会如实称为未知，并列出最可能的几行。只要日志能读取，退出码就是 0。",
    ),
    "cli.argument.logs": (
        "Files, folders or - (standard input); or one run's name, RUN or RUN/aN",
        "文件、目录或 -（标准输入）；或一个运行名 RUN 或 RUN/aN",
    ),
    "cli.option.which_attempt": (
        "Of several attempts in the logs the one of this number; the newest by default",
        "日志含多次尝试时，诊断其中第几次；默认为最近一次",
    ),
    "cli.column.family": ("family", "类别"),
    "cli.column.means": ("means", "含义"),
    "cli.column.retry": ("retry", "重试"),
    "cli.column.exception": ("exception", "异常"),
    "cli.column.place": ("raised at", "抛出位置"),
    "explain.lines": ("Lines that tell of it contain one of:", "能说明该原因的日志行含有以下内容之一："),
    "diagnose.evidence": ("Evidence", "证据"),
    "diagnose.candidates": ("It may have been", "可能的原因"),
    "diagnose.also": ("Also seen", "另外还有"),
    "diagnose.retry.now": ("helps at once", "立即重试即可"),
    "diagnose.retry.backoff": ("helps after a while", "等待一段时间后重试"),
    "diagnose.retry.exclude_node": ("helps without this node", "排除该节点后重试"),
    "diagnose.retry.after_change": ("helps after a change of the job or the code", "修改作业或代码后再重试"),
    "diagnose.retry.never": ("nothing to retry", "无需重试"),
    "diagnose.retry.unknown": ("not known whether it helps", "无法判断重试是否有用"),
    "diagnose.damaged": (
        "{file} is damaged or ends early; what could be decompressed was read",
        "{file} 已损坏或不完整；已读取能解压的部分",
    ),
    "diagnose.unreadable": ("the log cannot be read: {reason}", "无法读取日志：{reason}"),
    "diagnose.neither": (
        "there is no such file, and as a run: {error}",
        "没有这个文件；作为运行名：{error}",
    ),
    "diagnose.no_logs": (
        "no log files in this folder; name the files themselves",
        "该目录下没有日志文件；请直接给出文件名",
    ),
    "diagnose.no_attempt": (
        "no attempt {attempt}: the logs hold {count} (of one log the newest 20 are kept)",
        "没有第 {attempt} 次尝试：日志中共有 {count} 次（每份日志只保留最近 20 次）",
    ),
    "diagnose.zstd": (
        "a zstd file needs Python 3.14; decompress it first: zstd -d FILE",
        "读取 zstd 文件需要 Python 3.14；请先解压：zstd -d FILE",
    ),
    "diagnose.attempt_of_run": (
        "--attempt is for files; of a run name the attempt: {run}/a{attempt}",
        "--attempt 只用于文件；对运行请写明尝试：{run}/a{attempt}",
    ),
}
