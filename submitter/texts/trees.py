"""Texts of verl's config trees and of `npurun stacks`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "trees.bad_release": (
        "{release} is no version of verl: write it as 0.9.1",
        "{release} 不是 verl 的版本号：请写成 0.9.1 的形式",
    ),
    "trees.no_verl": (
        "no verl {release} with a config tree there",
        "其中没有带配置树的 verl {release}",
    ),
    "trees.unwritable": (
        "the config trees cannot be written: {reason}",
        "无法写入配置树：{reason}",
    ),
    "trees.no_folder": (
        "there is no such folder; `npurun stacks fetch --to DIR` writes one where there is internet",
        "没有这个目录；请在有网络的机器上用 `npurun stacks fetch --to DIR` 生成",
    ),
    "trees.none_there": (
        "no config tree is in this folder; `npurun stacks fetch --to DIR` writes them where there is internet",
        "该目录中没有配置树；请在有网络的机器上用 `npurun stacks fetch --to DIR` 生成",
    ),
    "trees.not_there": (
        "the folder has no config tree of verl {release}",
        "该目录中没有 verl {release} 的配置树",
    ),
    "trees.damaged": (
        "the config tree of verl {release} is incomplete or of another npurun; fetch and carry it anew",
        "verl {release} 的配置树不完整，或由其他版本的 npurun 生成；请重新获取并拷贝",
    ),
    "trees.links": (
        "the config tree of verl {release} holds symbolic links, which are not followed; carry files (cp -rL)",
        "verl {release} 的配置树中有符号链接，不会跟随；请拷贝文件本身（cp -rL）",
    ),
    "trees.also": ("{first}; {second}", "{first}；{second}"),
    "trees.both": (
        "--to and --from exclude each other",
        "--to 与 --from 不能同时使用",
    ),
    "trees.there": (
        "verl {release}: its config tree is at hand ({folder})",
        "verl {release}：配置树已就绪（{folder}）",
    ),
    "trees.downloading": (
        "verl {release}: asking the package index",
        "verl {release}：正在从软件包索引获取",
    ),
    "trees.taken": (
        "verl {release}: config tree taken from: {origin}",
        "verl {release}：已取得配置树，来源：{origin}",
    ),
    "trees.no_index": (
        "verl {release}: the package index gives no answer; check pip's configuration and the network, or carry the "
        "trees here: `npurun stacks fetch --to DIR` on a machine with internet, `--from DIR` on this one ({reason})",
        "verl {release}：软件包索引没有应答；请检查 pip 配置与网络，或在有网络的机器上执行 "
        "`npurun stacks fetch --to DIR`，再在本机用 `--from DIR` 安装（{reason}）",
    ),
    "trees.index_slow": (
        "verl {release}: the package index took longer than {seconds} s; try again, or carry the trees here with "
        "`npurun stacks fetch --to DIR` and `--from DIR`",
        "verl {release}：软件包索引超过 {seconds} 秒没有完成；请重试，或用 `npurun stacks fetch --to DIR` 与 "
        "`--from DIR` 拷贝配置树",
    ),
    "trees.unknown_release": (
        "the package index has no verl {release}; it has {known}",
        "软件包索引中没有 verl {release}；现有版本：{known}",
    ),
    "trees.bad_wheel": (
        "the wheel of verl {release} cannot be read ({reason}); fetch it again",
        "无法读取 verl {release} 的 wheel 包（{reason}）；请重新获取",
    ),
    "cli.stacks.short": ("Version sets, and verl's config trees at hand", "版本集（stack）及本机已有的 verl 配置树"),
    "cli.stacks.help": (
        "List the known stacks: which versions belong together, and whether the config tree of their verl is at hand, "
        "which `check` composes a job's arguments with. / `npurun stacks fetch` takes the trees.",
        "列出已知的版本集（stack）：哪些版本互相配套，以及其 verl 配置树是否已在本机；`check` 用它组合作业的参数。"
        " / `npurun stacks fetch` 获取配置树。",
    ),
    "cli.fetch.short": ("Take verl's config trees", "获取 verl 的配置树"),
    "cli.fetch.help": (
        "Take verl's config trees from an installed verl, or from the package index as pip is configured here, into "
        "$NPURUN_HOME; without VERSION those of all known stacks. / Without internet: --to DIR on a machine that has "
        "it, carry DIR over, --from DIR there. / verl itself is not installed or run. Exit code 1: the index does not "
        "answer.",
        "从已安装的 verl 或（按本机 pip 配置）软件包索引获取 verl 的配置树，放入 $NPURUN_HOME；不写 VERSION 时获取所有"
        "已知版本集所需的版本。 / 没有网络时：在有网络的机器上用 --to DIR，把 DIR 拷贝过来，再用 --from DIR。"
        " / 不会安装或运行 verl。退出码 1：软件包索引没有应答。",
    ),
    "cli.argument.versions": ("Versions of verl, e.g. 0.8.0", "verl 版本，例如 0.8.0"),
    "cli.option.to": ("Write the trees to this folder, to carry them", "把配置树写入该目录，以便拷贝"),
    "cli.option.from": ("Take the trees from a folder that --to wrote", "从 --to 写出的目录中取得配置树"),
    "cli.column.stack": ("stack", "版本集"),
    "cli.column.cann": ("CANN", "CANN"),
    "cli.column.torch_npu": ("torch_npu", "torch_npu"),
    "cli.column.vllm_ascend": ("vllm-ascend", "vllm-ascend"),
    "cli.column.verl": ("verl", "verl"),
    "cli.column.megatron_core": ("megatron-core", "megatron-core"),
    "cli.column.mindspeed": ("MindSpeed", "MindSpeed"),
    "cli.column.tree": ("config tree", "配置树"),
    "cli.stacks.at_hand": ("{release}", "{release}"),
    "cli.stacks.missing": ("{release} missing", "缺少 {release}"),
}
