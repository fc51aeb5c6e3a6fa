"""Texts of an imported job file, and of what it does not hold: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    # Comments in the file
    "importer_write.quoting": ("values are passed on as they stand here, as bash does", "值按原样传递，与 bash 一致"),
    "importer_write.unsaid": ("the script does not say it", "脚本中没有给出"),
    "importer_write.variables": (
        "What the script takes from its environment. A variable of the environment or --set NAME=VALUE wins.",
        "脚本从环境变量读取的值。同名环境变量或 --set NAME=VALUE 优先。",
    ),
    "importer_write.constants": (
        "What the script sets itself. The environment does not change it, --set NAME=VALUE does.",
        "脚本自己设置的值。环境变量不会改变它，--set NAME=VALUE 可以。",
    ),
    "importer_write.decided": (
        "The rest of this file hangs on these. For other values: import again with --set NAME=VALUE.",
        "本文件的其余内容取决于这些值。要用其他值，请用 --set NAME=VALUE 重新导入。",
    ),
    "importer_write.lines": ("line {lines}", "第 {lines} 行"),
    "importer_write.arguments": ("Passed in this order.", "按此顺序传递。"),
    # The summary
    "importer_write.lengths": ("{prompt} prompt + {response} response", "{prompt} 提示 + {response} 回答"),
    "importer_write.extent": ("{nodes} nodes x {npus} NPUs", "{nodes} 节点 x {npus} NPU"),
    "importer_write.extent_one": ("1 node x {npus} NPUs", "1 节点 x {npus} NPU"),
    # Notes
    "importer_write.secret_flag": (
        "{name} looks like a secret and is not written: the job takes it from the nodes' own environment (secrets)",
        "{name} 像是密钥，未写入：作业从各节点自身的环境变量读取它（secrets）",
    ),
    "importer_write.secret_variable": (
        "the value of {name} looks like a secret and is not written: set {name} in the environment",
        "{name} 的值像是密钥，未写入：请在环境变量中设置 {name}",
    ),
    "importer_write.secret_argument": (
        "the value of {name} looks like a secret and is left empty: give it to the trainer in another way",
        "{name} 的值像是密钥，在作业文件中留空：请用其他方式提供给训练程序",
    ),
    "importer_write.torchrun": (
        "torchrun's {option} is not carried over: npurun starts torchrun on each node with a rendezvous of its own",
        "未保留 torchrun 的 {option}：npurun 在每个节点启动 torchrun 并自行完成汇合",
    ),
    # Errors
    "importer_write.module": (
        "cannot be imported: {value} is no Python module, such as verl.trainer.main_ppo",
        "无法导入：{value} 不是 Python 模块，例如 verl.trainer.main_ppo",
    ),
    "importer_write.script": (
        "cannot be imported: {value} is no path of a Python file",
        "无法导入：{value} 不是 Python 文件的路径",
    ),
}
