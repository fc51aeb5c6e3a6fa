"""Texts of the checks of batch arithmetic and token limits: id -> (English, Chinese).

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
    "NR205.fix": (
        "Set {name} to {sizes} or less (a divisor of {limit}), or raise {batch} to {value}",
        "把 {name} 设为 {sizes} 或更小（{limit} 的约数），或把 {batch} 提高到 {value}",
    ),
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
    "NR206.fix": (
        "Set data.train_batch_size to {sizes} (with a mini-batch that is the whole batch, that one too)",
        "把 data.train_batch_size 设为 {sizes}（若小批次就是整个批次，也一并修改）",
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
    "NR207.fix": (
        "Set {batch} to {sizes} (with a mini-batch that is the whole batch, that one too), or change nodes or "
        "parallel sizes",
        "把 {batch} 设为 {sizes}（若小批次就是整个批次，也一并修改），或调整节点数与并行大小",
    ),
    "NR207.about": (
        "Batch against the data-parallel size. verl checks this at its start only without dynamic batch sizes; "
        "with them the run fails after minutes of generation. The trainer over the transfer queue "
        "(verl.trainer.main_ppo from 0.9.0 on) pads the batch instead, so there it is no problem.",
        "批次与数据并行大小。verl 只在不使用动态批次时于启动时检查；使用动态批次时，会在生成数分钟之后才失败。基于"
        "传输队列的训练器（0.9.0 起的 verl.trainer.main_ppo）会补足批次，因此没有问题。",
    ),
    "NR207.unknown": (
        "NR207 batches against the data-parallel size: not checked, since the parallel sizes of strategy "
        "{strategy} cannot be told here",
        "NR207 未核对批次与数据并行大小：此处无法得知 {strategy} 策略的并行规模",
    ),
    "NR208": (
        "{batch} is no multiple of {name}: {arithmetic}; the update of the last, smaller mini-batch fails, or is "
        "padded with samples that teach nothing",
        "{batch} 不是 {name} 的整数倍：{arithmetic}；最后一个较小的小批次会更新失败，或被无意义的样本补足",
    ),
    "NR208.fix": (
        "Set {name} to {sizes}, or {batch} to {trains}",
        "把 {name} 设为 {sizes}，或把 {batch} 设为 {trains}",
    ),
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
    "NR209.fix": (
        "Set {name} to {sizes}",
        "把 {name} 设为 {sizes}",
    ),
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
    "NR210.fix": (
        "Set {name} to {sizes}, or the mini-batch to {minis}",
        "把 {name} 设为 {sizes}，或把小批次设为 {minis}",
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
    "NR212.fix": (
        "Set actor_rollout_ref.rollout.agent.num_workers to {workers}, or the batch to {trains} prompts",
        "把 actor_rollout_ref.rollout.agent.num_workers 设为 {workers}，或把批次设为 {trains} 个 prompt",
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
    "NR221": (
        "{arithmetic} tokens, but rollout.max_model_len is {limit}: answers are cut short where it ends, without a "
        "word; prompts that fill it stop the run",
        "{arithmetic} 个 token，但 rollout.max_model_len 为 {limit}：回答会在到达上限时被悄悄截断；占满上限的 "
        "prompt 会使运行停止",
    ),
    "NR221.fix": (
        "Set actor_rollout_ref.rollout.max_model_len to {value} or more, or shorten the prompt or the response",
        "把 actor_rollout_ref.rollout.max_model_len 设为 {value} 或更大，或缩短 prompt 或回答的长度",
    ),
    "NR221.about": (
        "Prompt and response against max_model_len. The rollout engine generates no further than max_model_len, so "
        "a smaller one makes responses shorter than data.max_response_length says; a prompt that leaves no room "
        "for one token is refused. It is no problem where prompts are known to be short.",
        "prompt 与回答长度和 max_model_len。rollout 引擎生成的长度不会超过 max_model_len，因此较小的值会使回答短于 "
        "data.max_response_length；连一个 token 的空间都不剩的 prompt 会被拒绝。若已知 prompt 都很短，则没有问题。",
    ),
    "NR222": (
        "rollout.max_model_len is {value}, the model's max_position_embeddings {limit} ({said}): verl refuses it "
        "when it starts the rollout engine",
        "rollout.max_model_len 为 {value}，模型的 max_position_embeddings 为 {limit}（{said}）：verl 启动 rollout "
        "引擎时会拒绝",
    ),
    "NR222.fix": (
        "Set max_model_len to {limit} or less; with a model that scales its positions (YaRN), raise "
        "+actor_rollout_ref.model.override_config.max_position_embeddings={value}",
        "把 max_model_len 设为 {limit} 或更小；对使用位置缩放（YaRN）的模型，可设置 "
        "+actor_rollout_ref.model.override_config.max_position_embeddings={value}",
    ),
    "NR222.about": (
        "max_model_len against the model's context. verl compares it with max_position_embeddings of config.json, "
        "with the job's override_config over it, and knows of no rope scaling: a longer one is a ValueError in the "
        "server.",
        "max_model_len 与模型上下文。verl 将其与 config.json 中的 max_position_embeddings（叠加作业的 "
        "override_config）比较，不考虑 rope 缩放：更大的值会在服务进程中引发 ValueError。",
    ),
    "NR223": (
        "{arithmetic} tokens, but the model has {limit} positions ({said}): after a full prompt only {left} tokens "
        "are left to answer, and answers are cut there without a word",
        "{arithmetic} 个 token，但模型只有 {limit} 个位置（{said}）：完整 prompt 之后只剩 {left} 个 token 可用于回"
        "答，回答会在此被悄悄截断",
    ),
    "NR223.fix": (
        "Shorten the prompt or the response to {limit} together, take a model with a longer context, or set "
        "+actor_rollout_ref.model.override_config.max_position_embeddings where the model was made for it",
        "把 prompt 与回答的总长缩短到 {limit}，换用更长上下文的模型；若模型本身支持，可设置 "
        "+actor_rollout_ref.model.override_config.max_position_embeddings",
    ),
    "NR223.about": (
        "Prompt and response against the model's context. Without max_model_len verl runs the engine with "
        "max_position_embeddings, so longer responses never happen, whatever data.max_response_length says. Older "
        'verl stopped with "model context length should be greater than total sequence length".',
        "prompt 与回答长度和模型上下文。未设置 max_model_len 时，verl 以 max_position_embeddings 运行引擎，因此无"
        '论 data.max_response_length 为多少，都不会有更长的回答。更早的 verl 会以 "model context length should be '
        'greater than total sequence length" 停止。',
    ),
    "NR224": (
        "enable_chunked_prefill=False with max_num_batched_tokens {value} {sign} {arithmetic}: before 0.9.1 verl "
        "does not tell vLLM of the False, and prefill stays chunked; 0.9.1 does and raises the budget to "
        "max_model_len; a vLLM that is told with too small a budget refuses to start",
        "enable_chunked_prefill=False，而 max_num_batched_tokens {value} {sign} {arithmetic}：0.9.1 之前的 verl 不"
        "会把 False 传给 vLLM，prefill 仍会分块；0.9.1 会传递，并把预算提高到 max_model_len；若 vLLM 得知关闭分块而"
        "预算不足，会拒绝启动",
    ),
    "NR224.fix": (
        "Leave enable_chunked_prefill at True; to have it off, set "
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.no-enable-chunked-prefill=True and max_num_batched_tokens "
        "to {limit} or more",
        "保留 enable_chunked_prefill=True；若确需关闭，请设置 "
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.no-enable-chunked-prefill=True，并把 max_num_batched_tokens "
        "设为 {limit} 或更大",
    ),
    "NR224.about": (
        "Chunked prefill switched off. vLLM then wants max_num_batched_tokens ≥ max_model_len "
        '("max_num_batched_tokens (8192) is smaller than max_model_len (9216)"). verl turns its settings into '
        "command line flags and, but for 0.9.1, leaves out every False, so that the switch does nothing and the "
        "check never strikes.",
        '关闭分块 prefill。此时 vLLM 要求 max_num_batched_tokens ≥ max_model_len（"max_num_batched_tokens (8192) '
        'is smaller than max_model_len (9216)"）。verl 把设置转换为命令行参数，除 0.9.1 外会略去所有 False，因此该'
        "开关不起作用，也不会触发该检查。",
    ),
    "NR225": (
        "max_num_batched_tokens {value} is less than max_num_seqs {limit}: vLLM refuses to start",
        "max_num_batched_tokens {value} 小于 max_num_seqs {limit}：vLLM 拒绝启动",
    ),
    "NR225.fix": (
        "Raise max_num_batched_tokens to {limit} or more, or lower max_num_seqs",
        "把 max_num_batched_tokens 提高到 {limit} 或更大，或降低 max_num_seqs",
    ),
    "NR225.about": (
        "Token budget against running sequences. Each running sequence takes one token of every step of vLLM, so "
        "its scheduler wants a budget for all of them. max_num_seqs is 1024 by default (256 from 0.9.0 on).",
        "token 预算与并行序列数。vLLM 的每一步中，每个运行中的序列占用一个 token，因此调度器要求预算足够。"
        "max_num_seqs 默认为 1024（0.9.0 起为 256）。",
    ),
    "NR226": (
        '{arithmetic}: a sequence longer than the cap fits no micro-batch, and verl stops with "max_token_len '
        'must be greater than the sequence length" ({names})',
        '{arithmetic}：超过上限的序列放不进任何微批次，verl 会以 "max_token_len must be greater than the sequence '
        'length" 停止（{names}）',
    ),
    "NR226.fix": (
        "Raise the cap to {least} or more, raise the sequence or context parallel size, or shorten prompt or response",
        "把上限提高到 {least} 或更大，提高序列并行或上下文并行的大小，或缩短 prompt 或回答",
    ),
    "NR226.about": (
        "Token cap below one sequence. With dynamic batch sizes a micro-batch holds at most "
        "*_max_token_len_per_gpu × sequence (or context) parallel size tokens, and one sequence has to fit. The "
        "older workers of 0.7.1 compare the padded width, so they stop at once; later ones stop at the first "
        "sequence that is really longer, possibly hours into the run.",
        "token 上限小于单个序列。使用动态批次时，一个微批次最多容纳 *_max_token_len_per_gpu × 序列（或上下文）并行"
        "大小个 token，必须放得下一个序列。0.7.1 的旧 worker 比较填充后的宽度，会立即停止；之后的版本在第一个真正超"
        "长的序列处停止，可能已运行数小时。",
    ),
    "NR227": (
        "{arithmetic} tokens per micro-batch, while the longest sequence is {longest}: the cap per NPU is "
        "multiplied, so each of the {parts} ranks still holds {share} tokens at once, as without the parallel size",
        "每个微批次 {arithmetic} 个 token，而最长序列为 {longest}：每 NPU 的上限会相乘，因此 {parts} 个 rank 中的每"
        "一个仍同时持有 {share} 个 token，与不使用该并行时相同",
    ),
    "NR227.fix": (
        "If memory runs out, divide the cap by {parts}: it only has to hold {limit} tokens together",
        "若内存不足，请把上限除以 {parts}：合起来只需容纳 {limit} 个 token",
    ),
    "NR227.about": (
        "Token cap times context or sequence parallel size. Raising the parallel size alone saves no memory, since "
        "verl packs that many more sequences into a micro-batch. It is no problem where the memory is enough: "
        "larger micro-batches are faster.",
        "token 上限乘以上下文或序列并行大小。仅提高并行大小不会节省内存，因为 verl 会在一个微批次中装入相应更多的序"
        "列。内存足够时没有问题：更大的微批次更快。",
    ),
    "NR228": (
        "{arithmetic}: verl pads every sequence of the actor to a multiple",
        "{arithmetic}：verl 会把 actor 的每个序列补齐到整数倍",
    ),
    "NR228.fix": (
        "Nothing has to be done; lengths that add up to {limit} waste no padding",
        "无需处理；总长为 {limit} 时不会浪费填充",
    ),
    "NR228.about": (
        "Lengths and Megatron's sequence parallelism. A packed sequence has to divide by TP (× 2 CP with context "
        'parallelism). verl pads each one itself since 0.7.1 at least; older versions stopped with "First '
        'dimension of the tensor should be divisible by tensor parallel size".',
        "长度与 Megatron 序列并行。打包后的序列必须能被 TP（使用上下文并行时再乘以 2 CP）整除。至少从 0.7.1 起 "
        'verl 会自行补齐；更早的版本会以 "First dimension of the tensor should be divisible by tensor parallel '
        'size" 停止。',
    ),
    "NR229": (
        "the overlong buffer is {limit} tokens of {name} = {value}, the response {response}: the DAPO reward "
        "manager wants a positive buffer within max_resp_len, and max_resp_len to be the response's length",
        "超长缓冲为 {limit} 个 token，{name} = {value}，回答长度为 {response}：DAPO 奖励管理器要求缓冲为正且不超过 "
        "max_resp_len，且 max_resp_len 等于回答长度",
    ),
    "NR229.fix": (
        "Set {name}={response} and overlong_buffer_cfg.len to a part of it",
        "设置 {name}={response}，并把 overlong_buffer_cfg.len 设为其中一部分",
    ),
    "NR229.about": (
        "Overlong buffer of DAPO. The penalty grows over the last overlong_buffer_cfg.len tokens before "
        "max_resp_len. Without max_resp_len, or with a buffer that is larger, the reward manager stops at its "
        "start; with another length than the response's, answers are punished too early or never.",
        "DAPO 的超长缓冲。惩罚在 max_resp_len 之前的最后 overlong_buffer_cfg.len 个 token 上递增。缺少 "
        "max_resp_len 或缓冲更大时，奖励管理器启动即停止；与回答长度不同时，惩罚会过早或永远不出现。",
    ),
    "NR230": (
        "data.filter_overlong_prompts is off: prompts of more than {limit} tokens stay in the data; from 0.8.0 on "
        "their beginning is cut off, before that (and with images) they stop the run",
        "data.filter_overlong_prompts 已关闭：超过 {limit} 个 token 的 prompt 会留在数据中；0.8.0 起其开头会被截去，"
        "更早的版本（以及含图像时）会使运行停止",
    ),
    "NR230.fix": (
        "Set data.filter_overlong_prompts=True, unless you know that all prompts are shorter",
        "设置 data.filter_overlong_prompts=True，除非已知所有 prompt 都更短",
    ),
    "NR230.about": (
        "Prompts longer than data.max_prompt_length. data.truncation no longer decides over them: the agent loop "
        "that verl generates with cuts them on the left, system prompt first, or fails. Filtering takes some "
        "minutes on large data sets (data.filter_overlong_prompts_workers helps). It is no problem where no prompt "
        "is that long.",
        "超过 data.max_prompt_length 的 prompt。data.truncation 已不再起作用：verl 用于生成的 agent loop 会从左侧截"
        "断（先截去系统提示）或失败。大数据集的过滤需要几分钟（可用 data.filter_overlong_prompts_workers 加速）。没"
        "有超长 prompt 时没有问题。",
    ),
    "NR231": (
        "{own} is {value}, {data} {limit}: the rollout cuts at {value}, the data are prepared for {limit}",
        "{own} 为 {value}，{data} 为 {limit}：rollout 在 {value} 处截断，而数据按 {limit} 准备",
    ),
    "NR231.fix": (
        "Leave {own} out: it follows {data}",
        "去掉 {own}：默认与 {data} 相同",
    ),
    "NR231.about": (
        "Lengths of rollout and data. The rollout's own prompt_length and response_length follow "
        "data.max_prompt_length and data.max_response_length unless they are set; smaller ones cut what the data "
        "set lets through.",
        "rollout 与数据的长度。rollout 自己的 prompt_length 与 response_length 默认跟随 data.max_prompt_length 与 "
        "data.max_response_length；设得更小会截断数据集允许的内容。",
    ),
    "NR232": (
        "ignore_eos is True: every response runs on to {limit} tokens, behind the model's end of text",
        "ignore_eos 为 True：每个回答都会越过模型的结束符，一直生成到 {limit} 个 token",
    ),
    "NR232.fix": (
        "Drop ignore_eos, unless you only measure speed",
        "去掉 ignore_eos，除非只是测量速度",
    ),
    "NR232.about": (
        "End of text ignored. It makes all responses equally long, which is wanted in measurements of speed; in "
        "training the reward then judges what the model wrote after it was done.",
        "忽略结束符。它使所有回答等长，适合测速；用于训练时，奖励会评判模型结束之后写出的内容。",
    ),
    "NR233": (
        "max_num_seqs is {value}, less than rollout.n {limit}: the answers to one prompt cannot be generated together",
        "max_num_seqs 为 {value}，小于 rollout.n {limit}：同一 prompt 的回答无法一起生成",
    ),
    "NR233.fix": (
        "Raise max_num_seqs, if the cache has room",
        "若缓存有余量，请提高 max_num_seqs",
    ),
    "NR233.about": (
        "Sequences at a time. vLLM runs max_num_seqs sequences of a replica together; further ones wait, and a "
        "small number makes generation slow. It is no problem where the key-value cache holds no more anyway.",
        "同时运行的序列数。vLLM 在一个副本中同时运行 max_num_seqs 个序列，其余等待；数值过小会使生成变慢。若键值缓"
        "存本来就放不下更多，则没有问题。",
    ),
    "NR234": (
        "the teacher's max_model_len is {value}, but {arithmetic}: it reads the student's prompt and response and "
        "generates one token; verl refuses it at its start",
        "教师模型的 max_model_len 为 {value}，但 {arithmetic}：它要读取学生的 prompt 与回答并生成一个 token；verl "
        "启动时会拒绝",
    ),
    "NR234.fix": (
        "Set the teacher's max_model_len to {limit} or more",
        "把教师模型的 max_model_len 设为 {limit} 或更大",
    ),
    "NR234.about": (
        "Context of a distillation teacher. It scores what the student wrote, so the student's prompt and response "
        "are its prompt. Without max_model_len the teacher's own context counts.",
        "蒸馏教师模型的上下文。它为学生写出的内容打分，因此学生的 prompt 与回答就是它的 prompt。未设置 "
        "max_model_len 时以教师模型自身的上下文为准。",
    ),
}
