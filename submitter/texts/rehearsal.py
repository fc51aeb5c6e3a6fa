"""Texts of rehearsals: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "rehearsal.starting": (
        "starting {nodes} Ray nodes on this machine; dashboard {address}",
        "正在本机启动 {nodes} 个 Ray 节点；dashboard：{address}",
    ),
    "rehearsal.waiting": (
        "waiting for Ray nodes: {missing}",
        "正在等待 Ray 节点：{missing}",
    ),
    "rehearsal.start_timeout": (
        "Ray nodes not alive after {limit} s: {missing}; is the machine overloaded? Try again, or with fewer --nodes",
        "{limit} 秒后 Ray 节点仍未就绪：{missing}；机器可能过载：请重试，或减少 --nodes",
    ),
    "rehearsal.node_ended": (
        "`ray start` of node {node} ended with code {code}: {tail}",
        "节点 {node} 的 `ray start` 已退出，退出码 {code}：{tail}",
    ),
    "rehearsal.no_raylet": (
        "the raylet below process {keeper} is gone although Ray calls its node alive; try again",
        "Ray 显示节点存活，但进程 {keeper} 之下的 raylet 已消失；请重试",
    ),
    "rehearsal.memory": (
        "{nodes} local Ray nodes need {value} GiB of memory and {limit} GiB are free; use fewer --nodes",
        "{nodes} 个本地 Ray 节点需要 {value} GiB 内存，可用 {limit} GiB；请减少 --nodes",
    ),
    "rehearsal.no_ports": (
        "too few ports are free in this cluster's block of {limit}; end other programs or use fewer --nodes",
        "本集群的 {limit} 个端口中空闲端口不足；请结束其他程序或减少 --nodes",
    ),
    "rehearsal.no_block": (
        "all {limit} blocks of ports for local clusters are in use; end other rehearsals first",
        "本地集群的 {limit} 个端口段均被占用；请先结束其他演练",
    ),
    "rehearsal.no_python": ("cannot run {python}: {reason}", "无法运行 {python}：{reason}"),
    "rehearsal.no_ray": (
        "{python} has no Ray; install the extra: pip install 'npurun[rehearsal]'",
        "{python} 未安装 Ray；请安装附加组件：pip install 'npurun[rehearsal]'",
    ),
    "rehearsal.changes": (
        "the rehearsal changes {count} arguments and flags of {job} (- dropped, + added):",
        "本次演练更改 {job} 的 {count} 个参数和环境变量（- 删除，+ 新增）：",
    ),
    "rehearsal.because.tiny_model": ("{change}  (a tiny random model)", "{change}  (微型随机模型)"),
    "rehearsal.because.tiny_data": ("{change}  (sums of two digits)", "{change}  (一位数加法数据)"),
    "rehearsal.because.tiny_reward": (
        "{change}  (reward of the sums, one worker)",
        "{change}  (加法题的奖励，单个 worker)",
    ),
    "rehearsal.because.sizes": ("{change}  (small enough for a CPU)", "{change}  (缩小到 CPU 可承受)"),
    "rehearsal.because.engine": ("{change}  (FSDP2 on CPU is the engine)", "{change}  (训练引擎改为 CPU 上的 FSDP2)"),
    "rehearsal.because.rollout": (
        "{change}  (Hugging Face transformers generate)",
        "{change}  (由 Hugging Face transformers 生成)",
    ),
    "rehearsal.because.placement": (
        "{change}  (ranks per node of the rehearsal; the reservation stays the job's)",
        "{change}  (演练的每节点 rank 数；资源预留仍按作业)",
    ),
    "rehearsal.because.short": ("{change}  (a few steps, with a checkpoint)", "{change}  (只训练几步，并保存检查点)"),
    "rehearsal.because.local": ("{change}  (nothing leaves this rehearsal)", "{change}  (不产生演练之外的输出)"),
    "rehearsal.because.megatron": ("{change}  (only Megatron reads it)", "{change}  (仅 Megatron 使用)"),
    "rehearsal.because.vllm": ("{change}  (only vLLM-Ascend reads it)", "{change}  (仅 vLLM-Ascend 使用)"),
    "rehearsal.because.other_engine": (
        "{change}  (belongs to an engine that is not rehearsed)",
        "{change}  (属于不参与演练的引擎)",
    ),
    "rehearsal.because.other_model": ("{change}  (belongs to the job's own model)", "{change}  (属于作业自己的模型)"),
    "rehearsal.because.other_data": ("{change}  (belongs to the job's own data)", "{change}  (属于作业自己的数据)"),
    "rehearsal.because.other_reward": ("{change}  (belongs to the job's own reward)", "{change}  (属于作业自己的奖励)"),
    "rehearsal.because.other_sizes": ("{change}  (a size of the job's own)", "{change}  (作业自己的规模)"),
    "rehearsal.because.profiler": ("{change}  (there is no device to profile)", "{change}  (没有可分析的设备)"),
    "rehearsal.because.outside": (
        "{change}  (lies outside this rehearsal)",
        "{change}  (在演练范围之外)",
    ),
    "rehearsal.because.flag": ("{change}  (flag of the rehearsal)", "{change}  (演练用环境变量)"),
    "rehearsal.refused.module": (
        "cannot be rehearsed: {module}; a rehearsal runs {limit} with launcher ray (no SFT, no torchrun). "
        "Submit it to a cluster instead",
        "无法演练：{module}；演练只支持 launcher 为 ray 的 {limit}（不支持 SFT、torchrun）。请直接提交到集群",
    ),
    "rehearsal.refused.critic": (
        "cannot be rehearsed: {key}={value} needs a critic; without one: grpo, rloo, reinforce_plus_plus",
        "无法演练：{key}={value} 需要 critic；无 critic 的算法：grpo、rloo、reinforce_plus_plus",
    ),
    "rehearsal.refused.async": (
        "cannot be rehearsed: {key}={value} is an asynchronous mode; a rehearsal trains synchronously",
        "无法演练：{key}={value} 是异步模式；演练只支持同步训练",
    ),
    "rehearsal.refused.reward_model": (
        "cannot be rehearsed: {key}={value} needs a reward model's own engine; use a reward function",
        "无法演练：{key}={value} 需要奖励模型自己的引擎；请改用奖励函数",
    ),
    "rehearsal.refused.distillation": (
        "cannot be rehearsed: {key}={value} needs a teacher model's own engine",
        "无法演练：{key}={value} 需要教师模型自己的引擎",
    ),
    "rehearsal.refused.multi_turn": (
        "cannot be rehearsed: {key}={value}; a rehearsal's tiny model calls no tools, use single-turn",
        "无法演练：{key}={value}；演练的微型模型不能调用工具，请改为单轮",
    ),
    "rehearsal.refused.parallel": (
        "cannot be rehearsed: {key}={value}; the CPU rollout has one process per rank, so only 1",
        "无法演练：{key}={value}；CPU rollout 每个 rank 只有一个进程，只能为 1",
    ),
    "rehearsal.missing_packages": (
        "a rehearsal needs {missing}; install the extra: pip install 'npurun[rehearsal]'",
        "演练需要 {missing}；请安装附加组件：pip install 'npurun[rehearsal]'",
    ),
    "rehearsal.assets": ("making a tiny model and its data", "正在生成微型模型和数据"),
    "rehearsal.assets_failed": (
        "the tiny model could not be made: {reason}; does the extra fit? pip install 'npurun[rehearsal]'",
        "无法生成微型模型：{reason}；请检查附加组件：pip install 'npurun[rehearsal]'",
    ),
    "rehearsal.ending": ("ending the {nodes} Ray nodes", "正在结束 {nodes} 个 Ray 节点"),
    "rehearsal.step": ("step {step}: mean reward {reward}", "第 {step} 步：平均奖励 {reward}"),
    "rehearsal.steps": (
        "rehearsed: {steps} GRPO steps of the real verl trainer, mean reward {first} -> {last}",
        "演练完成：真实 verl 训练器运行 {steps} 个 GRPO 步，平均奖励 {first} -> {last}",
    ),
    "rehearsal.checkpoint": (
        "checkpoint of step {step}: {ranks} ranks, {mib} MiB, complete (removed with the rehearsal's other files)",
        "第 {step} 步的检查点：{ranks} 个 rank，{mib} MiB，完整（随演练的其他文件一并删除）",
    ),
    "rehearsal.not_proved": (
        "not proved by a rehearsal: HCCL, vLLM-Ascend, Megatron, device memory and binding, a real network, your model "
        "and data",
        "演练不能证明：HCCL、vLLM-Ascend、Megatron、设备内存与绑定、真实网络，以及作业自己的模型和数据",
    ),
    "rehearsal.no_metrics": (
        "the run ended well, but its steps were not recorded ({reason}); this is no rehearsal passed",
        "运行正常结束，但没有记录训练步（{reason}）；演练未通过",
    ),
    "rehearsal.no_checkpoint": (
        "the run ended well, but its checkpoint is not complete ({reason}); this is no rehearsal passed",
        "运行正常结束，但检查点不完整（{reason}）；演练未通过",
    ),
}
