"""Texts of the version probes: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR511": (
        "{component} on node {node} is {value}, on other nodes {limit}",
        "节点 {node} 的 {component} 为 {value}，其他节点为 {limit}",
    ),
    "NR511.fix": (
        "Start that node from the image of the others (`pip show <package>`, `cat <CANN>/version.cfg` there to see)",
        "请用与其他节点相同的镜像启动该节点（可在该节点用 `pip show <包名>`、`cat <CANN>/version.cfg` 确认）",
    ),
    "NR511.about": (
        "Versions are compared node by node. Where most nodes agree on one release of torch, torch_npu, vllm, verl, "
        "CANN, Ray or Python's minor, another release is an error: ranks exchange pickles and collectives. A build or "
        "patch level that differs is a warning, and so is everything where no version is in the majority.",
        "逐节点比较版本。当多数节点使用同一版本的 torch、torch_npu、vllm、verl、CANN、Ray 或 Python 次版本时，"
        "不同版本视为错误：各 rank 会交换 pickle 数据和集合通信。仅构建号或补丁号不同，或没有多数版本时，只给出警告。",
    ),
    "NR512": (
        "{component} on node {node} is {value}, the job's stack names {limit}",
        "节点 {node} 的 {component} 为 {value}，作业的 stack 指定 {limit}",
    ),
    "NR512.fix": (
        "Take the stack's image, or name what is installed in the job: `stack: <name>,{component}={value}`",
        "请使用该 stack 的镜像，或在作业中写明实际版本：`stack: <名称>,{component}={value}`",
    ),
    "NR512.about": (
        "The checks of flags and arguments are made for the versions that the job's stack names. With others they may "
        "say wrong things. Branches and commits are not compared, nor an HDK that the stack counts like CANN.",
        "对参数和环境变量的检查基于作业 stack 中的版本；版本不同时检查结论可能不准确。"
        "分支名、提交号以及按 CANN 版本号书写的 HDK 不参与比较。",
    ),
    "NR513": (
        "{value} is not installed on node {node}, while other nodes have it and the job imports it",
        "节点 {node} 没有安装 {value}，而其他节点已安装且作业需要导入它",
    ),
    "NR513.fix": (
        "Start that node from the image of the others, or set the same PYTHONPATH before its `ray start`",
        "请用与其他节点相同的镜像启动该节点，或在该节点 `ray start` 之前设置相同的 PYTHONPATH",
    ),
    "NR513.about": (
        "What the job's training engine and rollout import, looked for among installed packages and on Python's path "
        "of Ray's workers. A rank on a node without it ends with ModuleNotFoundError.",
        "在已安装的包以及 Ray worker 的 Python 路径中查找训练引擎和 rollout 所需的模块。"
        "缺少它的节点上的 rank 会以 ModuleNotFoundError 结束。",
    ),
    "NR514": (
        "needed by the job and installed on no node that it can use: {value} (looked for on {node} and the others)",
        "作业需要、但其可用节点均未安装：{value}（已在 {node} 及其他节点查找）",
    ),
    "NR514.fix": (
        "Start the nodes from the image of the job's stack, with CANN's set_env.sh sourced before `ray start`; for a "
        "rehearsal on CPUs there is nothing to do",
        "请用作业 stack 的镜像启动节点，并在 `ray start` 之前 source CANN 的 set_env.sh；若只是在 CPU 上演练，可忽略",
    ),
    "NR514.about": (
        "CANN, torch_npu, and what the job's engine and rollout import, looked for on the nodes that have NPU device "
        "files, or on all of them where none has. One warning for what is on none: a wrong image, or a rehearsal.",
        "在有 NPU 设备文件的节点上（若都没有，则在所有节点上）查找 CANN、torch_npu 以及训练引擎和 rollout 所需的模块。"
        "全部节点都没有时给出一条警告：镜像不对，或只是演练。",
    ),
}
