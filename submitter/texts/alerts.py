"""Texts of the alerts NR9xx and of the phases of a step: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR901.about": (
        "A loss, gradient norm, KL, entropy or reward is not a number. From then on the weights may be spoilt.",
        "损失、梯度范数、KL、熵或奖励不是有限数值。此后权重可能已损坏。",
    ),
    "NR901": (
        "{metric} is {value} at step {first}; so were {count} of the last {steps} steps",
        "{metric} 在第 {first} 步为 {value}；最近 {steps} 步中有 {count} 步如此",
    ),
    "NR901.fix": (
        "Stop, and resume from a checkpoint before that step with a lower learning rate; look at that step's samples, "
        "at rewards that divide by zero, and at the precision of log-probabilities. A single bad gradient norm is "
        "skipped by the trainer",
        "请停止训练，以更低的学习率从该步之前的 checkpoint 恢复；检查该步的样本、"
        "奖励函数中的除零，以及 log-prob 的精度。单次无效的梯度范数会被训练器跳过",
    ),
    "NR902.about": (
        "The reward does not rise. It is where it began after 300 steps, or the very same for 20.",
        "奖励没有上升。300 步之后仍停留在起点，或连续 20 步完全相同。",
    ),
    "NR902": (
        "{metric} is {value} after {steps} steps, and was {begin} at their beginning",
        "{metric} 经过 {steps} 步后为 {value}，开始时为 {begin}",
    ),
    "NR902.fix": (
        "Read some answers with their rewards: a parser that finds no answer, a wrong chat template, or prompts that "
        "are all too hard or too easy give every answer the same reward. Then more answers per prompt (rollout.n), "
        "filtered groups, or a higher learning rate",
        "请查看若干回答及其奖励：解析不出答案、对话模板错误、题目全部过难或过易，都会使所有回答得到相同奖励。"
        "然后可增大每个提示的回答数（rollout.n）、过滤无差异的组，或提高学习率",
    ),
    "NR903.about": (
        "The reward has fallen from its best, by more than noise. What is trained now gets worse.",
        "奖励从最好水平明显下降，超出噪声范围。继续训练只会变差。",
    ),
    "NR903": (
        "{metric} is {value}, down from {best}; it fell around step {first}",
        "{metric} 为 {value}，曾达到 {best}；在第 {first} 步附近下降",
    ),
    "NR903.fix": (
        "Stop, and resume from a checkpoint before the fall; what rose first (gradient norm, KL, mismatch, response "
        "length) tells why: lower the learning rate, add a KL loss, or correct the rollout's mismatch "
        "(algorithm.rollout_correction)",
        "请停止训练，从下降之前的 checkpoint 恢复；先上升的指标（梯度范数、KL、训推差异、回答长度）说明原因："
        "降低学习率、加入 KL 损失，或校正训推差异（algorithm.rollout_correction）",
    ),
    "NR904.about": (
        "The norm of the gradients has grown to several times what is usual, and stays there.",
        "梯度范数升至平时的数倍并持续。",
    ),
    "NR904": (
        "{metric} is {value}, usual is {usual}, for {steps} steps",
        "{metric} 为 {value}，平时为 {usual}，已持续 {steps} 步",
    ),
    "NR904.fix": (
        "Watch the reward: where it falls too, resume from a checkpoint before, with a lower learning rate or a "
        "smaller optim.clip_grad, and look for a mismatch between rollout and trainer",
        "请关注奖励：若也下降，从之前的 checkpoint 恢复，降低学习率或减小 optim.clip_grad，并检查训推差异",
    ),
    "NR905.about": (
        "The policy is all but certain of each token. It explores nothing any more, and the reward stops rising.",
        "策略对每个 token 几乎完全确定。探索停止，奖励不再上升。",
    ),
    "NR905": (
        "{metric} is {value}, was {begin} at the beginning, the limit is {limit}",
        "{metric} 为 {value}，开始时为 {begin}，下限为 {limit}",
    ),
    "NR905.fix": (
        "Widen the upper clip (actor.clip_ratio_high, such as 0.28), add an entropy bonus (actor.entropy_coeff), raise "
        "the sampling temperature, or go on with prompts that are not solved yet",
        "请放宽上裁剪（actor.clip_ratio_high，如 0.28），"
        "加入熵奖励（actor.entropy_coeff），提高采样温度，或换用尚未解决的题目",
    ),
    "NR906.about": (
        "The policy moves too fast: in one step, or away from the reference.",
        "策略变化过快：单步之内，或相对参考模型。",
    ),
    "NR906": (
        "{metric} is {value}, usual is {usual}, for {steps} steps",
        "{metric} 为 {value}，平时为 {usual}，已持续 {steps} 步",
    ),
    "NR906.fix": (
        "Lower the learning rate or the number of updates per batch (ppo_epochs, mini-batches); against the "
        "reference, raise actor.kl_loss_coef",
        "请降低学习率或每批的更新次数（ppo_epochs、mini-batch 数）；相对参考模型的 KL 可增大 actor.kl_loss_coef",
    ),
    "NR907.about": (
        "A step takes longer than it did, for the same work. The phase that has grown most is named.",
        "相同工作量下每步耗时变长。给出增长最多的阶段。",
    ),
    "NR907": (
        "A step takes {value} s, usual is {usual} s; most of it in {phase}: {phase_s} s instead of {phase_usual_s} s",
        "每步耗时 {value} s，平时为 {usual} s；主要在{phase}：{phase_s} s，原为 {phase_usual_s} s",
    ),
    "NR907.fix": (
        "Look at the nodes: one that is used differently, hot, or swapping; a slow file system where it is the "
        "checkpoint or the data; longer or more uneven answers where it is generation",
        "请查看节点：是否有使用率异常、过热或换页的节点；"
        "若为数据或 checkpoint，检查文件系统；若为生成，检查回答是否变长或更不均匀",
    ),
    "NR908.about": (
        "The rollout engine and the trainer give different probabilities to the same tokens. What is learned then "
        "belongs to another policy.",
        "推理引擎与训练器对相同 token 给出不同概率。学到的内容并不属于当前策略。",
    ),
    "NR908": (
        "{metric} is {value}, usual is {usual}, for {steps} steps",
        "{metric} 为 {value}，平时为 {usual}，已持续 {steps} 步",
    ),
    "NR908.fix": (
        "Turn on algorithm.rollout_correction (truncated importance sampling); use the same precision on both sides, "
        "switch off prefix caching and cascade attention of the rollout to see which one it is; for MoE models replay "
        "the routing",
        "请启用 algorithm.rollout_correction（截断重要性采样）；两侧使用相同精度，"
        "逐一关闭推理侧的前缀缓存与 cascade attention 以定位原因；MoE 模型可使用 routing replay",
    ),
    "NR909.about": (
        "Many answers are cut at the longest length. They are graded as if they were wrong.",
        "许多回答在最大长度处被截断。它们会被当作错误回答评分。",
    ),
    "NR909": (
        "{percent} % of the answers end at {length} tokens, the limit is {limit} %",
        "{percent}% 的回答在 {length} 个 token 处被截断，上限为 {limit}%",
    ),
    "NR909.fix": (
        "Raise data.max_response_length, or punish length softly (overlong shaping), or leave cut answers out of the "
        "loss; answers that repeat themselves without end point to a collapse",
        "请增大 data.max_response_length，或对过长回答做软惩罚（overlong shaping），或在损失中排除被截断的回答；"
        "无休止重复的回答说明策略在崩溃",
    ),
    "NR910.about": (
        "The NPUs of one node are used differently from those of the others. In synchronous training all wait for the "
        "slowest.",
        "某个节点的 NPU 使用率与其他节点不同。同步训练中所有节点都在等待最慢的一个。",
    ),
    "NR910": (
        "{node}: its NPUs were used {value} %, those of the other nodes {usual} %, over {minutes} min",
        "{node}：{minutes} 分钟内其 NPU 使用率为 {value}%，其他节点为 {usual}%",
    ),
    "NR910.fix": (
        "More use than the others: it is slow, look at clock, temperature and health with npu-smi. Less: it waits "
        "for its own host (CPU, memory, storage) or gets less work. After the run npurun doctor compares the nodes",
        "高于其他节点：该节点偏慢，请用 npu-smi 查看频率、温度与健康状态。低于其他节点："
        "在等待本机（CPU、内存、存储），或分到的工作较少。运行结束后可用 npurun doctor 比较各节点",
    ),
    "NR911.about": (
        "The memory of a node grows, or is almost full. Ray kills workers at 95 %.",
        "节点内存持续增长或即将用尽。达到 95% 时 Ray 会结束 worker。",
    ),
    "NR911": (
        "{node}: {used_gb} of {total_gb} GB are used ({percent} %); hours until the limit of {limit} %: {hours}",
        "{node}：已用 {used_gb} GB，共 {total_gb} GB（{percent}%）；距 {limit}% 上限的小时数：{hours}",
    ),
    "NR911.fix": (
        "See which process grows (ps, ray memory). Usual: offloaded optimizer states, checkpoints that are saved "
        "through host memory, tool or reward processes, old rollouts in the object store. Save a checkpoint before, "
        "and resume",
        "请查看哪个进程在增长（ps、ray memory）。常见原因：offload 的优化器状态、"
        "经主机内存保存的 checkpoint、工具或奖励进程、对象存储中的旧样本。请在此之前保存 checkpoint 并恢复",
    ),
    "NR912.about": (
        "npu-smi calls an NPU unhealthy. The next operation on it may fail.",
        "npu-smi 报告 NPU 不健康。其上的下一次操作可能失败。",
    ),
    "NR912": ("{node}: NPU {npus} is {health}", "{node}：NPU {npus} 状态为 {health}"),
    "NR912.fix": (
        "Look at `npu-smi info -t health -i ID` on the node and at its error codes; save a checkpoint, then take the "
        "node out (npurun nodes)",
        "请在该节点执行 `npu-smi info -t health -i ID` 查看错误码；保存 checkpoint 后将该节点移出（npurun nodes）",
    ),
    "NR913.about": (
        "The host memory that the trainer sees grows from step to step.",
        "训练器看到的主机内存逐步增长。",
    ),
    "NR913": (
        "{metric} grew from {begin} to {value} GB in {steps} steps",
        "{metric} 在 {steps} 步内由 {begin} GB 增至 {value} GB",
    ),
    "NR913.fix": (
        "See which process grows (ps, ray memory) before Ray kills a worker at 95 % of the node's memory",
        "请在内存达到节点的 95%、Ray 结束 worker 之前查看哪个进程在增长（ps、ray memory）",
    ),
    "phase.generation": ("generation", "生成"),
    "phase.reward": ("reward", "奖励"),
    "phase.old_log_prob": ("old log-prob", "旧策略 log-prob"),
    "phase.reference": ("reference", "参考模型"),
    "phase.values": ("values", "价值估计"),
    "phase.advantage": ("advantage", "优势计算"),
    "phase.critic_update": ("critic update", "critic 更新"),
    "phase.actor_update": ("actor update", "actor 更新"),
    "phase.weight_sync": ("weight sync", "权重同步"),
    "phase.checkpoint": ("checkpoint", "checkpoint"),
    "phase.validation": ("validation", "验证"),
    "phase.other": ("other", "其他"),
}
