"""Texts of `npurun export` and `npurun report`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.export.short": ("All steps of a run as CSV or JSON", "以 CSV 或 JSON 导出运行的所有步"),
    "cli.export.help": (
        "Print every step of a run with all that the trainer logged, one row a step, as CSV (with a heading) or JSON. "
        "/ Of a step that several attempts have trained, the latest counts; --all also gives the others, with counts "
        "false. What a step lacks is empty. By this machine's ledger alone: no cluster is asked.",
        "输出运行的每一步及训练器记录的全部指标，每步一行，格式为 CSV（含表头）或 JSON。 / 同一步被多次尝试训练过时，"
        "以最近一次为准；--all 也输出其余各行，其 counts 为 false。某一步缺少的指标留空。只读本机记录，不访问集群。",
    ),
    "cli.option.csv": ("as CSV (the default)", "输出 CSV（默认）"),
    "cli.option.json_steps": ("as one JSON document", "输出一个 JSON 文档"),
    "cli.option.all_steps": (
        "also the steps that a later attempt has trained again",
        "也输出被后续尝试重新训练过的步",
    ),
    "cli.option.output_file": ("write there instead of stdout", "写入该文件，而不是标准输出"),
    "cli.export.one_form": ("it is either --csv or --json", "--csv 与 --json 只能选一个"),
    "cli.file_written": ("written: {file}", "已写入：{file}"),
    "cli.file_unwritable": (
        "{file} cannot be written: {reason}. Name a file in a folder that is there",
        "无法写入 {file}：{reason}。请指定一个已存在文件夹中的文件",
    ),
}
