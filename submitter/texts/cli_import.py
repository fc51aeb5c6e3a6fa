"""Texts of `npurun import`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.import.short": ("Make a job file from a bash launch script", "由 bash 启动脚本生成作业文件"),
    "cli.import.help": (
        "Read a bash launch script, without running it, and write the job file that runs the same command: "
        "`npurun render` of it prints exactly the arguments and flags that bash would pass. / What the script takes "
        "from its environment stays a variable, its arrays become groups, comments are kept. Branches are taken as the "
        "script takes them with this environment and on a machine with NPUs; what is not carried over is told with its "
        "line on stderr.",
        "读取 bash 启动脚本（不执行它），写出运行同一命令的作业文件：对它执行 `npurun render` 得到的参数和环境变量"
        "与 bash 传递的完全一致。 / 脚本从环境变量读取的值仍是变量，数组成为参数组，注释保留。"
        "分支按当前环境、并按有 NPU 的机器选取；未导入的内容会连同行号输出到 stderr。",
    ),
    "cli.argument.script": ("the launch script", "启动脚本"),
    "cli.import.output": ("write the job file there instead of to stdout", "将作业文件写到此处，而不是 stdout"),
    "cli.import.set": (
        "read the script with this variable; it becomes the job file's default",
        "以此变量读取脚本；它成为作业文件中的默认值",
    ),
    "cli.import.launch": ("of several trainings in the script: the Nth", "脚本中有多个训练时：取第 N 个"),
    "cli.import.verify": (
        "also run the script under bash in a sandbox without network, with stubs for all commands, and compare",
        "另在无网络的沙箱中用 bash 运行脚本（所有命令均为桩），并逐项比较",
    ),
    "cli.import.same_file": (
        "{file} is the script itself: name another file",
        "{file} 就是脚本本身：请指定其他文件",
    ),
    "cli.usage.script_arguments": (
        "unexpected argument {value}; the script's own arguments go after --, as in `npurun import SCRIPT -- 8 /save`",
        "多余的参数 {value}；脚本自己的参数放在 -- 之后，例如 `npurun import SCRIPT -- 8 /save`",
    ),
    "cli.import.note": ("{place}: {severity}: {what}", "{place}：{severity}：{what}"),
    "cli.import.warning": ("warning", "警告"),
    "cli.import.note_word": ("note", "说明"),
    "cli.import.runner": (
        "{place}: note: {runner} is left out: npurun starts the trainer with the python3 of the cluster",
        "{place}：说明：省略 {runner}：npurun 用集群的 python3 启动训练程序",
    ),
    "cli.import.not_reached": (
        "--verify: bash did not come to {target} in the sandbox ({ended}); it said: {said}. Nothing was written",
        "--verify：bash 在沙箱中没有执行到 {target}（{ended}）；其输出：{said}。未写入任何文件",
    ),
    "cli.import.machine": ("--verify: the machine's, not compared: {what}", "--verify：取决于机器，未比较：{what}"),
    "cli.import.differs": ("--verify: {what}", "--verify：{what}"),
    "cli.import.verified": (
        "--verify: bash passes the same {count} arguments and variables",
        "--verify：bash 传递的 {count} 个参数和变量完全相同",
    ),
}
