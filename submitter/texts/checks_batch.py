"""Texts of the checks of batch arithmetic (NR201 to NR219): id -> (English, Chinese).

An `.about` begins with its title.
"""

TEXTS: dict[str, tuple[str, str]] = {
    "NR201": (
        '{name} is not set and the micro-batches are not cut by tokens: verl stops with "Please set at least one '
        'of …" or an assertion while it builds its workers',
        '{name} 未设置，且微批次不是按 token 切分：verl 会在创建 worker 时以 "Please set at least one of …" 或断'
        "言失败停止",
    ),
    "NR201.fix": (
        "Set {name}, or actor_rollout_ref.actor.use_dynamic_bsz=True for all roles",
        "设置 {name}；或设置 actor_rollout_ref.actor.use_dynamic_bsz=True，对所有角色生效",
    ),
    "NR201.about": (
        "Micro-batch size missing. Without dynamic batch sizes every role that the job has (actor, rollout, "
        "reference model, critic) needs its own *_micro_batch_size_per_gpu, and verl has no default for it. With "
        "use_dynamic_bsz=True the micro-batches are cut by tokens and none is needed.",
        "缺少微批次大小。不使用动态批次时，作业中的每个角色（actor、rollout、参考模型、critic）都需要自己的 "
        "*_micro_batch_size_per_gpu，verl 没有默认值。设置 use_dynamic_bsz=True 时微批次按 token 切分，不需要该键。",
    ),
    "NR202": (
        "{name} and {name}_per_gpu are both set: verl refuses the two together",
        "同时设置了 {name} 与 {name}_per_gpu：verl 拒绝两者并存",
    ),
    "NR202.fix": (
        "Drop {name}: it is deprecated; {name}_per_gpu stays",
        "去掉已弃用的 {name}，只保留 {name}_per_gpu",
    ),
    "NR202.about": (
        "Two micro-batch sizes for one role. The key without _per_gpu counts the samples of all NPUs together and "
        "is deprecated; verl stops when both are set. For the critic the old key alone is enough to stop it, since "
        "its _per_gpu key takes the same value by default.",
        "同一角色有两个微批次大小。不带 _per_gpu 的键统计所有 NPU 的样本总数，已弃用；两者同时设置时 verl 会停止。"
        "对 critic 而言，仅设置旧键也会停止，因为其 _per_gpu 键默认取相同的值。",
    ),
    "NR203": (
        "{name} is deprecated: it counts the samples of all NPUs together, and from 0.8.0 on verl's workers stop "
        "when {name}_per_gpu is not set",
        "{name} 已弃用：它统计所有 NPU 的样本总数；从 0.8.0 起，若未设置 {name}_per_gpu，verl 的 worker 会停止",
    ),
    "NR203.fix": (
        "Set {name}_per_gpu instead: the samples that one NPU computes at once",
        "改用 {name}_per_gpu：一个 NPU 一次计算的样本数",
    ),
    "NR203.about": (
        "Deprecated micro-batch key. Up to 0.7.1 verl divides it by the data-parallel size; its newer workers read "
        "the _per_gpu key only and assert that it is there.",
        "已弃用的微批次键。到 0.7.1 为止 verl 会用数据并行大小去除它；新的 worker 只读取 _per_gpu 键，并断言它已设置。",
    ),
    "NR204": (
        "log_prob_use_dynamic_bsz is {value}, but the actor's use_dynamic_bsz is {limit}: verl asserts that both "
        "are the same and stops while it loads the model",
        "log_prob_use_dynamic_bsz 为 {value}，而 actor 的 use_dynamic_bsz 为 {limit}：verl 断言两者相同，会在加载模"
        "型时停止",
    ),
    "NR204.fix": (
        "Leave log_prob_use_dynamic_bsz out: it follows the actor's by default",
        "去掉 log_prob_use_dynamic_bsz：默认与 actor 相同",
    ),
    "NR204.about": (
        "Rollout and actor differ in dynamic batch sizes. One worker serves both, with one choice; verl 0.8.0 and "
        "later assert that the two keys agree.",
        "rollout 与 actor 的动态批次设置不同。两者由同一个 worker 负责，只有一种选择；verl 0.8.0 及以后断言两个键一"
        "致。",
    ),
    "NR205": (
        "{name} is {value}, but one step has only {limit} prompts ({batch}): a mini-batch cannot be larger than "
        "its batch; verl stops, or its newer trainer fills the rest with samples that teach nothing",
        "{name} 为 {value}，但每步只有 {limit} 个 prompt（{batch}）：小批次不能大于整个批次；verl 会停止，新的训练"
        "器则会用无意义的样本补足",
    ),
    "NR205.fix": ("{do}", "{do}"),
    "NR205.about": (
        "Mini-batch larger than the training batch. Both count prompts, before the repetition by rollout.n. verl "
        "compares them only without dynamic batch sizes; with them, the workers of 0.8.0 and later fail at the "
        "first update, and the trainer over the transfer queue (0.9.0 on) pads the batch up to a whole mini-batch.",
        "小批次大于训练批次。两者都以 prompt 计数，不含 rollout.n 的重复。verl 只在不使用动态批次时比较两者；使用动"
        "态批次时，0.8.0 及以后的 worker 在第一次更新时失败，基于传输队列的训练器（0.9.0 起）会把批次补足到一个完整"
        "的小批次。",
    ),
    "NR206": (
        "the batch does not divide as verl's own check at the start wants: {arithmetic}",
        "批次无法按 verl 启动检查的要求整除：{arithmetic}",
    ),
    "NR206.fix": ("{do}", "{do}"),
    "NR206.batch": ("Set {batch} to {batches}", "请把 {batch} 设为 {batches}"),
    "NR206.mini": ("Set {name} to {minis}", "请把 {name} 设为 {minis}"),
    "NR206.either": (
        "Set {name} to {minis}, or {batch} to {batches}",
        "请把 {name} 设为 {minis}，或把 {batch} 设为 {batches}",
    ),
    "NR206.both": (
        "Set {name} to {minis} and, together with it, {batch} to {batches}",
        "请把 {name} 设为 {minis}，同时把 {batch} 设为 {batches}",
    ),
    "NR206.same": (
        "Set {batch} and {name} both to {batches}",
        "请把 {batch} 和 {name} 都设为 {batches}",
    ),
    "NR206.about": (
        "Batch against the world size. Without dynamic batch sizes verl's start asserts that train_batch_size × n "
        "divides by all NPUs (FSDP and others) or by the data-parallel size × micro-batch (Megatron). With "
        "use_dynamic_bsz=True the check is skipped; NR207 to NR209 look at what then remains.",
        "批次与总 NPU 数。不使用动态批次时，verl 启动时断言 train_batch_size × n 能被 NPU 总数（FSDP 等）或数据并行"
        "大小 × 微批次（Megatron）整除。设置 use_dynamic_bsz=True 时跳过该检查，其余要求由 NR207 至 NR209 检查。",
    ),
    "NR207": (
        "the batch cannot be dealt out in equal parts to the {name}'s data-parallel ranks: {arithmetic}; verl "
        'stops after the first generation ("only support equal chunk" or an assertion)',
        '批次无法平均分给 {name} 的各个数据并行 rank：{arithmetic}；verl 会在第一次生成之后停止（"only support '
        'equal chunk" 或断言失败）',
    ),
    "NR207.fix": ("{do}; or change nodes or parallel sizes", "{do}；或调整节点数与并行大小"),
    "NR207.about": (
        "Batch against the data-parallel size. verl checks this at its start only without dynamic batch sizes; "
        "with them the run fails after minutes of generation. The trainer over the transfer queue "
        "(verl.trainer.main_ppo from 0.9.0 on) pads the batch instead, so there it is no problem.",
        "批次与数据并行大小。verl 只在不使用动态批次时于启动时检查；使用动态批次时，会在生成数分钟之后才失败。基于"
        "传输队列的训练器（0.9.0 起的 verl.trainer.main_ppo）会补足批次，因此没有问题。",
    ),
    "NR207.unknown": (
        "batches against the data-parallel size: not checked, since the parallel sizes of strategy "
        "{strategy} cannot be told here",
        "未核对批次与数据并行大小：此处无法得知 {strategy} 策略的并行规模",
    ),
    "NR208": (
        "{batch} is no multiple of {name}: {arithmetic}; the update of the last, smaller mini-batch fails, or is "
        "padded with samples that teach nothing",
        "{batch} 不是 {name} 的整数倍：{arithmetic}；最后一个较小的小批次会更新失败，或被无意义的样本补足",
    ),
    "NR208.fix": ("{do}", "{do}"),
    "NR208.about": (
        "Batch in whole mini-batches. verl does not check it at its start. The workers of 0.8.0 and later (and "
        "Megatron's before) assert it at the first update; FSDP in 0.7.1 trains a smaller last mini-batch; the "
        "trainer over the transfer queue pads with samples that are masked out, at the cost of their time.",
        "批次应为完整的小批次。verl 启动时不检查。0.8.0 及以后的 worker（以及之前的 Megatron）在第一次更新时断言；"
        "0.7.1 的 FSDP 会训练一个较小的末尾小批次；基于传输队列的训练器用被屏蔽的样本补足，浪费相应的时间。",
    ),
    "NR209": (
        "a mini-batch of {name} cannot be dealt out in equal parts to the data-parallel ranks: {arithmetic}",
        "{name} 的一个小批次无法平均分给各个数据并行 rank：{arithmetic}",
    ),
    "NR209.fix": ("{do}", "{do}"),
    "NR209.about": (
        "Mini-batch against the data-parallel size. The workers of verl 0.8.0 and later assert at the first update "
        "that ppo_mini_batch_size × n divides by it. Those of 0.7.1 round down: a mini-batch of nothing stops, any "
        "other is silently smaller than asked.",
        "小批次与数据并行大小。verl 0.8.0 及以后的 worker 在第一次更新时断言 ppo_mini_batch_size × n 能被其整除。"
        "0.7.1 的 worker 向下取整：结果为零时停止，否则小批次会悄悄变小。",
    ),
    "NR210": (
        "{name} does not divide the share of one data-parallel rank: {arithmetic}",
        "{name} 无法整除单个数据并行 rank 分到的样本数：{arithmetic}",
    ),
    "NR210.fix": ("{do}", "{do}"),
    "NR210.micro": (
        "Set {name} to {sizes}. Another way: {do}",
        "请把 {name} 设为 {sizes}。另一种方式：{do}",
    ),
    "NR210.about": (
        "Mini-batch in whole micro-batches. ppo_mini_batch_size × n / data-parallel size has to divide by the "
        "micro-batch per NPU; verl asserts it in its workers, after the models were loaded. With "
        "use_dynamic_bsz=True the micro-batches are cut by tokens and it does not matter.",
        "小批次应为完整的微批次。ppo_mini_batch_size × n / 数据并行大小必须能被每 NPU 的微批次整除；verl 在 worker "
        "中断言，此时模型已经加载。设置 use_dynamic_bsz=True 时微批次按 token 切分，没有此要求。",
    ),
    "NR211": (
        "{name} does not divide the share of one data-parallel rank: {arithmetic}; the pass that computes "
        "log-probabilities stops",
        "{name} 无法整除单个数据并行 rank 分到的样本数：{arithmetic}；计算对数概率的过程会停止",
    ),
    "NR211.fix": (
        "Set {name} to {sizes}",
        "把 {name} 设为 {sizes}",
    ),
    "NR211.about": (
        "Log-probability micro-batch. From 0.8.0 on verl cuts the whole batch of a rank, not a mini-batch, into "
        "micro-batches of log_prob_micro_batch_size_per_gpu and asserts that nothing is left over. The older "
        "workers let the last one be smaller.",
        "对数概率的微批次。从 0.8.0 起，verl 把一个 rank 的整个批次（而不是小批次）切成 "
        "log_prob_micro_batch_size_per_gpu 大小的微批次，并断言没有余数。旧的 worker 允许最后一个较小。",
    ),
    "NR212": (
        "the prompts cannot be dealt out evenly to the {limit} agent workers (rollout.agent.num_workers, 8 by "
        "default): {arithmetic}",
        "prompt 无法平均分给 {limit} 个 agent worker（rollout.agent.num_workers，默认 8）：{arithmetic}",
    ),
    "NR212.fix": ("{do}", "{do}"),
    "NR212.either": (
        "Set actor_rollout_ref.rollout.agent.num_workers to {workers}. Another way: {do}",
        "请把 actor_rollout_ref.rollout.agent.num_workers 设为 {workers}。另一种方式：{do}",
    ),
    "NR212.about": (
        "Batch against the agent workers. The classic trainer cuts what is to be generated into equal parts, one "
        "per agent worker; their number is 8 by default and has nothing to do with the NPUs. Validation batches "
        "are padded. The trainer over the transfer queue cuts unequal parts: there, with fewer prompts than "
        "workers, some only idle.",
        "批次与 agent worker。经典训练器把待生成的内容平均分给各个 agent worker；其数量默认为 8，与 NPU 数无关。验"
        "证批次会被补足。基于传输队列的训练器可以不均分：prompt 少于 worker 时，只是有些 worker 空闲。",
    ),
    "NR213": (
        "data.gen_batch_size is {value}, data.train_batch_size {train}: this trainer either steps on {value} "
        "prompts instead of {train}, or stops because {train} is not made of whole pieces of {value}",
        "data.gen_batch_size 为 {value}，data.train_batch_size 为 {train}：该训练器要么每步使用 {value} 个 prompt "
        "而不是 {train} 个，要么因 {train} 不是 {value} 的整数倍而停止",
    ),
    "NR213.fix": (
        "Drop data.gen_batch_size, or set it to {sizes}",
        "去掉 data.gen_batch_size，或设为 {sizes}",
    ),
    "NR213.about": (
        "Prompts fetched at once. Only the trainer over the transfer queue (0.9.0 on) and DAPO's own trainer read "
        "gen_batch_size as a piece of the batch; the queue's train_batch_size must be whole pieces. For the "
        "classic trainers it silently is the batch.",
        "一次读取的 prompt 数。只有基于传输队列的训练器（0.9.0 起）和 DAPO 自己的训练器把 gen_batch_size 当作批次的"
        "一部分；前者要求 train_batch_size 是它的整数倍。对经典训练器而言，它会悄悄成为批次大小。",
    ),
    "NR214": (
        "{name} is {value}, but this trainer asserts that it is {limit}, and stops at its start",
        "{name} 为 {value}，但该训练器断言其为 {limit}，会在启动时停止",
    ),
    "NR214.fix": (
        "Set {name} to {limit}",
        "把 {name} 设为 {limit}",
    ),
    "NR214.about": (
        "What the asynchronous trainers insist on. Fully asynchronous training fetches prompts one by one "
        "(train_batch_size 0, gen_batch_size 1: its batch is ppo_mini_batch_size × require_batches), needs the "
        "rollout's log-probabilities, and like one-step-off training has no hybrid engine.",
        "异步训练器的硬性要求。完全异步训练逐个读取 prompt（train_batch_size 为 0，gen_batch_size 为 1：其批次是 "
        "ppo_mini_batch_size × require_batches），需要 rollout 的对数概率；与 one-step-off 训练一样，不使用 hybrid "
        "engine。",
    ),
    "NR215": (
        "data.train_batch_size is {value}, but in mode separate_async verl asserts that it is {arithmetic}",
        "data.train_batch_size 为 {value}，但在 separate_async 模式下 verl 断言其等于 {arithmetic}",
    ),
    "NR215.fix": (
        "Set data.train_batch_size to {limit}, or change parameter_sync_step or the mini-batch to match",
        "把 data.train_batch_size 设为 {limit}，或相应调整 parameter_sync_step 与小批次",
    ),
    "NR215.about": (
        "Batch of separate_async. Between two transfers of weights this trainer makes parameter_sync_step updates "
        "(4 by default) of one mini-batch each, so the three sizes are bound together.",
        "separate_async 的批次。两次权重同步之间，该训练器进行 parameter_sync_step 次更新（默认 4），每次一个小批次，"
        "因此三个大小互相绑定。",
    ),
    "NR216": (
        "too few micro-batches for the interleaved pipeline: {arithmetic}; there have to be at least PP {limit}, "
        "and counted ones a multiple of it",
        "微批次数量不足以支持交错流水线：{arithmetic}；至少需要 PP {limit} 个，按样本数切分时还须是其整数倍",
    ),
    "NR216.fix": (
        "Set {name} to {sizes}, so that a rank has a multiple of {limit} micro-batches, or drop "
        "virtual_pipeline_model_parallel_size",
        "把 {name} 设为 {sizes}，使每个 rank 的微批次数为 {limit} 的整数倍；或去掉 "
        "virtual_pipeline_model_parallel_size",
    ),
    "NR216.about": (
        "Virtual pipeline. Megatron's interleaved schedule runs micro-batches in groups of the pipeline size: "
        "fewer, or a remainder, and it stops. With dynamic batch sizes verl rounds their number up to a multiple, "
        "which needs at least as many samples per rank. Without a virtual pipeline any number will do.",
        "虚拟流水线。Megatron 的交错调度以流水线大小为一组运行微批次：数量不足或有余数时会停止。使用动态批次时 "
        "verl 会把数量向上取整，因此每个 rank 至少需要同样多的样本。不使用虚拟流水线时没有此要求。",
    ),
    "NR217": (
        "{name} is {value}: it has to be at least {limit}",
        "{name} 为 {value}：至少应为 {limit}",
    ),
    "NR217.fix": (
        "Set {name} to {limit} or more",
        "把 {name} 设为 {limit} 或更大",
    ),
    "NR217.about": (
        "Sizes that cannot be zero or negative. verl divides by most of them; the others would make a step of "
        "nothing. Fully asynchronous training alone wants data.train_batch_size=0.",
        "不能为零或负数的大小。verl 会用其中大多数作除数，其余会使一步什么也不做。只有完全异步训练要求 "
        "data.train_batch_size=0。",
    ),
    "NR218": (
        "rollout.total_rollout_steps is {value}, but the first transfer of weights needs {arithmetic}: the run "
        "ends without one",
        "rollout.total_rollout_steps 为 {value}，但第一次权重同步需要 {arithmetic}：运行会在同步之前结束",
    ),
    "NR218.fix": (
        "Raise rollout.total_rollout_steps to a multiple of {limit}, or make the mini-batch smaller",
        "把 rollout.total_rollout_steps 提高到 {limit} 的整数倍，或减小小批次",
    ),
    "NR218.about": (
        "Length of a fully asynchronous run. total_rollout_steps counts prompts; ppo_mini_batch_size × "
        "require_batches × trigger_parameter_sync_step of them make one version of the weights.",
        "完全异步训练的长度。total_rollout_steps 以 prompt 计数；ppo_mini_batch_size × require_batches × "
        "trigger_parameter_sync_step 个 prompt 产生一个版本的权重。",
    ),
    "NR219": (
        "the batch cannot be dealt out evenly to the {limit} reward workers: {arithmetic}",
        "批次无法平均分给 {limit} 个奖励 worker：{arithmetic}",
    ),
    "NR219.fix": (
        "Set reward.num_workers to {workers}",
        "把 reward.num_workers 设为 {workers}",
    ),
    "NR219.about": (
        "Batch against the reward workers. A reward model that shares the actor's NPUs scores the whole batch in "
        "equal parts, one per reward worker (8 by default); from 0.9.0 on verl pads it.",
        "批次与奖励 worker。与 actor 共用 NPU 的奖励模型把整个批次平均分给各个奖励 worker（默认 8）；从 0.9.0 起 "
        "verl 会补足批次。",
    ),
}
