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
}
