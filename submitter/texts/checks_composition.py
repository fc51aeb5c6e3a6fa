"""Texts of the checks that compose a job's arguments: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR101": (
        "verl {release} has no key {value}",
        "verl {release} 没有 {value} 这个键",
    ),
    "NR101.fix": ("{hint}", "{hint}"),
    "NR101.write": (
        'Did you mean {nearest}? If not, drop it: Hydra ends the trainer with "Could not override"',
        '是否想写 {nearest}？如果不是，请去掉它：Hydra 会以 "Could not override" 结束训练器',
    ),
    "NR101.drop": (
        "Drop it: nothing in verl's configuration has a name like it, and Hydra ends the trainer with \"Could not "
        'override"',
        '请去掉它：verl 的配置中没有相近的名称，Hydra 会以 "Could not override" 结束训练器',
    ),
    "NR101.about": (
        "A key that verl's configuration does not have. The job's arguments are composed with Hydra against the config "
        "tree of the stack's verl, as the trainer does at its start; there the first such key ends it. No problem for "
        "keys added with +, which have rules of their own.",
        "verl 配置中不存在的键。作业的参数会用 Hydra 与版本集中 verl 的配置树组合，与训练器启动时相同；"
        "训练器遇到第一个这样的键就会结束。用 + 添加的键不在此列，它们由其他规则检查。",
    ),
    "NR101.no_stack": (
        "the arguments were not composed: the job names no stack, so its verl is not known; write `stack:` or --stack",
        "没有组合参数：作业没有写 stack，无法得知 verl 版本；请写 `stack:` 或 --stack",
    ),
    "NR101.no_tree": (
        "the arguments were not composed: the config tree of verl {release} is not at hand; `npurun stacks fetch "
        "{release}` takes it",
        "没有组合参数：本机没有 verl {release} 的配置树；请执行 `npurun stacks fetch {release}`",
    ),
    "NR101.damaged": (
        "the arguments were not composed: the config tree of verl {release} is damaged; remove its folder and take it "
        "anew with `npurun stacks fetch {release}`",
        "没有组合参数：verl {release} 的配置树已损坏；请删除其目录，再执行 `npurun stacks fetch {release}`",
    ),
    "NR101.module": (
        "the arguments were not composed: verl {release} has no trainer {module} with a Hydra config; only verl's own "
        "can be composed",
        "没有组合参数：verl {release} 中没有带 Hydra 配置的训练器 {module}；只能组合 verl 自带的训练器",
    ),
    "NR101.config_folder": (
        "the arguments were not composed: the job brings a config folder of its own (--config-path, --config-dir or "
        "hydra.searchpath)",
        "没有组合参数：作业使用自己的配置目录（--config-path、--config-dir 或 hydra.searchpath）",
    ),
    "NR101.engine": (
        "the other arguments were not composed: which keys there are depends on model_engine, and verl {release} lacks "
        "the one that the job asks for",
        "没有组合其余参数：有哪些键取决于 model_engine，而 verl {release} 没有作业所要的引擎",
    ),
    "NR101.group": (
        "the other arguments were not composed: which keys there are depends on a config group choice that verl "
        "{release} lacks",
        "没有组合其余参数：有哪些键取决于配置组的选择，而 verl {release} 没有该选项",
    ),
    "NR101.stand_in": (
        "the keys in which this stack's verl differs: {stack} was composed against verl {release} as a stand-in "
        "({verl})",
        "没有检查该版本集的 verl 有差异的键：{stack} 以 verl {release} 代替进行组合（{verl}）",
    ),
    "NR102": (
        '+{value} adds a key that is there already: Hydra ends the trainer with "Could not append to config"',
        '+{value} 添加的键已经存在：Hydra 会以 "Could not append to config" 结束训练器',
    ),
    "NR102.fix": (
        "Write {value} without +, or ++{value}, which adds or replaces",
        "去掉 + 写 {value}，或写 ++{value}（不存在则添加，存在则替换）",
    ),
    "NR102.about": (
        "A + in front of a key that exists. Hydra's + only adds; on a key that has a value already the trainer ends at "
        "its start. No problem with ++, or where the value is null or the argument a dict.",
        "在已存在的键前写了 +。Hydra 的 + 只能添加；键已有值时，训练器一启动就结束。使用 ++、原值为 null，"
        "或参数是字典时没有问题。",
    ),
    "NR103": (
        '{value} is not in verl\'s YAML and cannot be set without +: Hydra ends the trainer with "Could not override"',
        '{value} 不在 verl 的 YAML 中，不写 + 无法设置：Hydra 会以 "Could not override" 结束训练器',
    ),
    "NR103.fix": ("{hint}", "{hint}"),
    "NR103.plus": ("Write +{value}", "请写 +{value}"),
    "NR103.drop": (
        "Drop it: only the Megatron engine reads it, and with + it would do nothing",
        "请去掉它：只有 Megatron 引擎会读取它，加上 + 也不会有任何作用",
    ),
    "NR103.about": (
        "A key that verl reads but its YAML does not list. It is a field of one of verl's config classes, or belongs "
        "to a dict that takes any key (engine_kwargs, override_transformer_config). Hydra wants + or ++ in "
        "front of it.",
        "verl 会读取、但其 YAML 没有列出的键。它是 verl 某个配置类的字段，或属于可以放任意键的字典"
        "（engine_kwargs、override_transformer_config）。Hydra 要求在前面写 + 或 ++。",
    ),
    "NR104": (
        "{key} is {value}, but verl expects {expected}: {how}",
        "{key} 的值是 {value}，而 verl 需要 {expected}：{how}",
    ),
    "NR104.fix": ("Give {key} a value of the type {expected}", "请给 {key} 写一个 {expected} 类型的值"),
    "NR104.fails": ("it fails where it is used", "用到它的地方会失败"),
    "NR104.fraction": ("a count has no fraction", "个数不能是小数"),
    "NR104.truthy": (
        "a text, which Python takes for true whatever it says",
        "这是文本，无论内容是什么，Python 都当作真",
    ),
    "NR104.odd": ("it may fail, or mean something else there", "可能失败，或被理解为其他含义"),
    "NR104.about": (
        "A value whose type verl cannot use. Neither Hydra nor verl's config classes look at types: a text where a "
        "number belongs fails in the middle of the start, and 'no' where a bool belongs counts as true. Whole numbers "
        "for floats and null for optional fields are no problem.",
        "类型不符的值。Hydra 和 verl 的配置类都不检查类型：该写数字却写了文本，会在启动途中失败；"
        "该写布尔值却写了 'no'，会被当作真。浮点字段写整数、可选字段写 null 都没有问题。",
    ),
    "NR105": (
        "{value} is no choice for {name}; verl knows: {limit}",
        "{value} 不是 {name} 的可选值；verl 支持：{limit}",
    ),
    "NR105.fix": (
        "Write one of these (the nearest is {nearest}); a name that your own code registers needs that code on every "
        "node",
        "请写其中之一（最接近的是 {nearest}）；由自己的代码注册的名称，需要该代码在每个节点上可用",
    ),
    "NR105.fix.far": (
        "Write one of these; a name that your own code registers needs that code on every node",
        "请写其中之一；由自己的代码注册的名称，需要该代码在每个节点上可用",
    ),
    "NR105.about": (
        "A name that is not in the list of its key. verl looks these names up in registries, enums and assertions of "
        "its sources, some of them only after the model is loaded. Names that a module of yours registers are told as "
        "a warning where the job brings one.",
        "不在该键可选列表中的名称。verl 在源码的注册表、枚举和断言中查找这些名称，有些要等模型加载之后才查。"
        "作业带有自己的模块时，由其注册的名称只给出警告。",
    ),
    "NR106": (
        "verl {release} has no key {value} as this job is composed: {when}",
        "按本作业的组合方式，verl {release} 没有 {value} 这个键：{when}",
    ),
    "NR106.fix": ("{hint}", "{hint}"),
    "NR106.drop": (
        "Drop it, or choose the stack that has it",
        "请去掉它，或选择具有它的版本集",
    ),
    "NR106.choose": (
        "Drop it, or choose the stack, engine or trainer that has it",
        "请去掉它，或选择具有它的版本集、引擎或训练器",
    ),
    "NR106.gone": ("gone since {since} (last in {last})", "自 {since} 起已删除（最后存在于 {last}）"),
    "NR106.new": ("new in {since}", "{since} 才新增"),
    "NR106.engine": (
        "it exists with {way}",
        "它只在使用 {way} 时存在",
    ),
    "NR106.engine.section": (
        "it exists with {way}; the job sets {count} keys of it, from here on",
        "它只在使用 {way} 时存在；从此行起，作业设置了其中 {count} 个键",
    ),
    "NR106.trainer": (
        "it belongs to the PPO trainer (verl.trainer.main_ppo)",
        "它属于 PPO 训练器（verl.trainer.main_ppo）",
    ),
    "NR106.trainer.section": (
        "it belongs to the PPO trainer (verl.trainer.main_ppo); the job sets {count} such keys, from here on",
        "它属于 PPO 训练器（verl.trainer.main_ppo）；从此行起，作业设置了 {count} 个这样的键",
    ),
    "NR106.about": (
        "A key of another verl version, or of another engine. Scripts that were copied between versions carry keys "
        "which the stack's verl has dropped or not yet got; Hydra ends the trainer at the first.",
        "属于其他 verl 版本或其他引擎的键。在版本之间拷贝的脚本常带有当前 verl 已删除或尚未支持的键；"
        "Hydra 遇到第一个就会结束训练器。",
    ),
    "NR107": (
        "{key} is set twice: {first} in group {group} (line {line}), then {value} in group {other}; the last one "
        "counts",
        "{key} 设置了两次：组 {group}（第 {line} 行）中是 {first}，组 {other} 中是 {value}；以最后一个为准",
    ),
    "NR107.fix": ("Keep one of them", "请只保留一个"),
    "NR107.about": (
        "A key that two groups of the job set. Hydra takes the last one without a word, so that an edit of the first "
        "does nothing. Replacing an argument after `--` on the command line is meant and not told.",
        "作业中两个组设置了同一个键。Hydra 不作提示，直接采用最后一个，因此修改前一个不会生效。"
        "在命令行 `--` 之后替换参数属于正常用法，不会提示。",
    ),
    "NR108": (
        "{key}: verl {release} has no choice {value}; it has {choices}",
        "{key}：verl {release} 没有 {value} 这个选项；可选：{choices}",
    ),
    "NR108.fix": ("{way}", "{way}"),
    "NR108.choose": (
        "Choose one of these, or the stack that has yours",
        "请选择其中之一，或换用具有该选项的版本集",
    ),
    "NR108.megatron": (
        "Before 0.8.0 Megatron is chosen by another config: drop model_engine and write --config-name: "
        "ppo_megatron_trainer in an argument group",
        "0.8.0 之前，Megatron 通过另一个配置选择：去掉 model_engine，并在参数组中写 "
        "--config-name: ppo_megatron_trainer",
    ),
    "NR108.about": (
        "A choice that a config group of verl does not have. model_engine and the like choose whole parts of the "
        "configuration by file name; Hydra ends the trainer when there is no such file.",
        "verl 的配置组中没有的选项。model_engine 等键按文件名选择配置的整块内容；没有对应文件时，Hydra 会结束训练器。",
    ),
    "NR109": (
        "Hydra cannot read the argument {value}: {reason}",
        "Hydra 无法读取参数 {value}：{reason}",
    ),
    "NR109.fix": (
        "Quote what is text (key='a, b'), write lists as [a,b] and dicts as {{a: b}}; a typed value in the job file is "
        "quoted for you",
        "文本请加引号（key='a, b'），列表写作 [a,b]，字典写作 {{a: b}}；作业文件中带类型的值会自动加引号",
    ),
    "NR109.sweep": (
        "values parted by commas are a sweep, which needs --multirun",
        "用逗号分隔的多个值表示 sweep，需要 --multirun",
    ),
    "NR109.option": ("Hydra has no such option for one run", "Hydra 没有这个用于单次运行的选项"),
    "NR109.between": (
        "Hydra takes its options before or after the overrides, not between them; write it as a key of an argument "
        "group",
        "Hydra 的选项只能放在所有参数之前或之后，不能放在中间；请将它写为参数组的一个键",
    ),
    "NR109.about": (
        "An argument that Hydra's grammar does not take. Raw text ($text, variables from outside, arguments after "
        "`--`) is passed on as it is, so a bracket or a comma in it is read as grammar.",
        "不符合 Hydra 语法的参数。原样文本（$text、来自外部的变量、`--` 之后的参数）会原样传递，"
        "其中的括号或逗号会被当作语法。",
    ),
    "NR110": (
        "{value}: verl's {target} has no field {field}; verl would refuse it with a TypeError once the actors have "
        "started (nearest: {nearest})",
        "{value}：verl 的 {target} 没有字段 {field}；actor 启动之后 verl 会以 TypeError 拒绝它（最接近的是 {nearest}）",
    ),
    "NR110.far": (
        "{value}: verl's {target} has no field {field}; verl would refuse it with a TypeError once the actors have "
        "started",
        "{value}：verl 的 {target} 没有字段 {field}；actor 启动之后 verl 会以 TypeError 拒绝它",
    ),
    "NR110.fix": (
        "Drop it, or write the field that was meant; what belongs to an engine goes into its own dict, e.g. "
        "engine_kwargs or override_transformer_config",
        "请去掉它，或改为所想的字段；属于引擎的选项应放入引擎自己的字典，例如 engine_kwargs 或 "
        "override_transformer_config",
    ),
    "NR110.about": (
        "A key added with + that verl's config class does not have. Hydra adds it without a word, and verl calls the "
        "class with it minutes later, in the actors. No problem below dicts that take any key; only a warning where "
        "verl makes the object in some jobs only.",
        "用 + 添加、但 verl 配置类没有的键。Hydra 不作提示就会添加，几分钟后 verl 在 actor 中用它构造配置类时失败。"
        "可以放任意键的字典之下没有问题；只有部分作业才会构造的对象，仅给出警告。",
    ),
    "NR111": (
        "~{value} deletes a key that is not there or has another value: {reason}",
        "~{value} 要删除的键不存在，或值不相同：{reason}",
    ),
    "NR111.fix": ("Drop it (nearest key: {nearest})", "请去掉它（最接近的键：{nearest}）"),
    "NR111.fix.far": ("Drop it", "请去掉它"),
    "NR111.about": (
        "A deletion of nothing. Hydra ends the trainer when ~key finds no such key, or one with another value than "
        "~key=value names.",
        "删除了不存在的内容。~key 找不到对应的键，或其值与 ~key=value 不同时，Hydra 会结束训练器。",
    ),
    "NR112": (
        "{value} has no value (`???`), and the trainer needs one",
        "{value} 没有值（`???`），而训练器需要它",
    ),
    "NR112.fix": ("Set {value}", "请设置 {value}"),
    "NR112.about": (
        "A mandatory value that is missing. OmegaConf's ??? stands for a value that must be given; reading it raises "
        "an error, some minutes into the start.",
        "缺少必须给出的值。OmegaConf 用 `???` 表示必须提供的值；启动几分钟后读取它时会报错。",
    ),
    "NR113": (
        "{key} refers to what does not exist: {value} ({reason})",
        "{key} 引用了不存在的内容：{value}（{reason}）",
    ),
    "NR113.fix": (
        "Correct the reference, or keep the key that it names",
        "请修正引用，或保留它所引用的键",
    ),
    "NR113.about": (
        "A reference ${{…}} that leads nowhere. The trainer resolves its whole configuration before anything else and "
        "ends when one value cannot be. References to the environment (oc.env) are decided on the cluster and not "
        "looked at.",
        "引用 ${{…}} 没有指向任何内容。训练器首先解析整个配置，只要有一个值无法解析就会结束。"
        "对环境变量的引用（oc.env）由集群决定，不作检查。",
    ),
    "NR114": (
        "{key} holds an escaped ${{…}}: verl takes the escape away at its start, and what reads the text later fills "
        "it in",
        "{key} 中有转义的 ${{…}}：verl 启动时会去掉转义，之后读取该文本的代码会再次替换",
    ),
    "NR114.fix": (
        "Write {{$text: '${{key}}'}} if a reference is meant; else avoid ${{ in the value",
        "如果要写引用，请用 {{$text: '${{key}}'}}；否则请避免在值中使用 ${{",
    ),
    "NR114.about": (
        "A text that shall keep its ${{…}}. verl resolves its configuration in place, which removes the escape, so "
        "that the next reader takes the text for a reference; no spelling prevents both.",
        "希望保留 ${{…}} 的文本。verl 会就地解析配置并去掉转义，后面的读取者会把该文本当作引用；没有写法能避免。",
    ),
    "NR115": (
        "{value} is added beside {nearest}: verl {release} has no such key, Hydra adds it without a word, and nothing "
        "reads it",
        "{value} 与已有的 {nearest} 并列添加：verl {release} 没有这个键，Hydra 不作提示就会添加，但没有代码读取它",
    ),
    "NR115.fix": ("If {nearest} is meant, write that", "如果想写的是 {nearest}，请改为它"),
    "NR115.about": (
        "A key added with + whose name is nearly that of an existing one. Where verl makes no object of a section, any "
        "name is taken, so that a mistyped one leaves the default in force. No problem for keys that your own code "
        "reads.",
        "用 + 添加、且与已有键名几乎相同的键。verl 不为该部分构造对象时，任何名称都会被接受，"
        "因此写错的键不会生效，仍使用默认值。自己的代码会读取的键不受影响。",
    ),
    "NR116": (
        "vLLM {version} has no {value} ({section}): {why}",
        "vLLM {version} 没有 {value}（{section}）：{why}",
    ),
    "NR116.nowhere": (
        "no version that was looked at has it, and vLLM ends at an argument that it does not know",
        "查看过的版本都没有它；遇到不认识的参数时 vLLM 会结束",
    ),
    "NR116.elsewhere": (
        "known to have it: {versions}; vLLM ends at an argument that it does not know",
        "已知具有它的版本：{versions}；遇到不认识的参数时 vLLM 会结束",
    ),
    "NR116.fix": ("{hint}", "{hint}"),
    "NR116.write": ("Write {nearest}, or drop it", "请写 {nearest}，或去掉它"),
    "NR116.drop": ("Drop it, or choose the stack whose vLLM has it", "请去掉它，或选择 vLLM 具有它的版本集"),
    "NR116.about": (
        "A name below engine_kwargs.vllm that vLLM does not know. It is no option of vLLM's server, or below "
        "compilation_config no field of it. verl hands both on as they are, and vLLM's parser stops at "
        "the first that it does not know. A name like none, which a patched vLLM may have, is a warning.",
        "engine_kwargs.vllm 之下 vLLM 不认识的名称。它不是 vLLM 服务的选项，或在 compilation_config 之下不是其字段。"
        "verl 原样传递，vLLM 的解析器遇到第一个不认识的就会停止。"
        "与任何名称都不相近的（修改过的 vLLM 可能具有）只给出警告。",
    ),
    "NR117": (
        "{value} is known to no version of Megatron or MindSpeed that was looked at; nearly the same: {nearest}",
        "查看过的 Megatron 与 MindSpeed 版本都没有 {value}；几乎相同的是 {nearest}",
    ),
    "NR117.fix": ("If {nearest} is meant, write that", "如果想写的是 {nearest}，请改为它"),
    "NR117.about": (
        "A mistyped name below override_transformer_config or override_optimizer_config. verl hands these on "
        "unread: the wrong name is refused by Megatron's config class or does nothing, while the right one keeps its "
        "default. Names that are like none are not told; they may be your own fork's.",
        "override_transformer_config 或 override_optimizer_config 之下写错的名称。verl 不作检查就传递："
        "错误的名称会被 Megatron 的配置类拒绝，或不起作用，而正确的选项仍保持默认值。"
        "与任何名称都不相近的不提示，它们可能来自自己的分支。",
    ),
    "NR118": (
        "a retry for {reason} would fail by its change: {what}",
        "因 {reason} 重试时，其修改会使尝试失败：{what}",
    ),
    "NR118.fix": ("{how}", "{how}"),
    "NR118.not_composed": (
        "the changes for {reason} were not composed against verl's configuration",
        "没有用 verl 的配置检验 {reason} 的修改",
    ),
    "NR118.about": (
        "Changes that recovery.on_reason allows. They are appended to the trainer's arguments in the next attempt, "
        "which would otherwise tell a mistyped key only after the failure that it is for. What is wrong with one is "
        "said as for an argument of the job.",
        "recovery.on_reason 允许的修改。它们会在下一次尝试中附加到训练器参数之后，"
        "否则写错的键要等到对应的故障发生之后才会暴露。问题的说明与作业自身的参数相同。",
    ),
}
