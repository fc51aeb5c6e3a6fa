"""Texts of the probes of `ray start`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR561": (
        "Ray on node {node} was started without CANN's environment: none of {value} is set in its workers",
        "节点 {node} 的 Ray 启动时没有 CANN 环境：worker 中 {value} 均未设置",
    ),
    "NR561.fix": (
        "`source /usr/local/Ascend/cann/set_env.sh` (before CANN 8.5: ascend-toolkit/set_env.sh) and "
        "`source /usr/local/Ascend/nnal/atb/set_env.sh` there, then restart Ray from that shell",
        "在该节点执行 `source /usr/local/Ascend/cann/set_env.sh`（CANN 8.5 之前为 ascend-toolkit/set_env.sh）和 "
        "`source /usr/local/Ascend/nnal/atb/set_env.sh`，然后在该 shell 中重启 Ray",
    ),
    "NR561.about": (
        "Workers inherit the environment of `ray start`, not of a login shell. Without CANN's variables torch_npu does "
        "not load (`libatb.so`, `libhccl.so`: cannot open shared object file). A warning where the library path names "
        "Ascend all the same.",
        "worker 继承 `ray start` 的环境，而不是登录 shell 的环境。缺少 CANN 变量时 torch_npu 无法加载"
        "（`libatb.so`、`libhccl.so`：cannot open shared object file）。若库路径中已有 Ascend 则只是警告。",
    ),
    "NR562": (
        "{name} that Ray had at its start differs on node {node}: only there {value}, only on others {limit}",
        "节点 {node} 启动 Ray 时的 {name} 与其他节点不同：仅该节点有 {value}，仅其他节点有 {limit}",
    ),
    "NR562.fix": (
        "Start Ray on all nodes by the same script",
        "请在所有节点用同一脚本启动 Ray",
    ),
    "NR562.about": (
        "Library and module paths of the raylets. Nodes whose Ray was started from another shell load other libraries, "
        "without a word.",
        "各 raylet 的库路径与模块路径。若从不同的 shell 启动 Ray，节点会在毫无提示的情况下加载不同的库。",
    ),
    "NR563": (
        "{name}={limit} of the job comes too late for node {node}: its Ray was started with {value}",
        "作业设置的 {name}={limit} 对节点 {node} 已太迟：其 Ray 启动时为 {value}",
    ),
    "NR563.fix": (
        "Export {name}={limit} before `ray start` on every node, and take it out of the job",
        "在每个节点 `ray start` 之前设置 {name}={limit}，并从作业中去掉",
    ),
    "NR563.about": (
        "Settings that `ray start` and the raylet read when they start. As a flag of the job they reach the workers, "
        "where nobody reads them.",
        "这些设置由 `ray start` 和 raylet 在启动时读取。作为作业变量只会到达 worker，而那里没有人读取。",
    ),
}
