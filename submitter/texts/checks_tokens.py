"""Texts of the checks of token limits (NR221 to NR234): id -> (English, Chinese).

An `.about` begins with its title.
"""

TEXTS: dict[str, tuple[str, str]] = {
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
