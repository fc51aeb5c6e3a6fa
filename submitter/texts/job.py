"""Texts of job files: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "job.not_found": (
        "there is no job and no file {name}; the nearest shipped job is {nearest}; `npurun jobs` lists all",
        "没有名为 {name} 的作业或文件；最接近的内置作业是 {nearest}；`npurun jobs` 可列出全部",
    ),
    "job.not_found.far": (
        "there is no job and no file {name}; `npurun jobs` lists all shipped jobs",
        "没有名为 {name} 的作业或文件；`npurun jobs` 可列出全部内置作业",
    ),
    # The file
    "job.unreadable": ("cannot be read: {why}", "无法读取：{why}"),
    "job.directory": ("is a directory; give a job file", "是目录；请给出作业文件"),
    "job.not_regular": ("is not a regular file; give a job file", "不是普通文件；请给出作业文件"),
    "job.too_large": (
        "is no job file: {size} bytes or more, the limit is {limit}",
        "不是作业文件：至少 {size} 字节，上限为 {limit}",
    ),
    "job.not_utf8": ("is not UTF-8 text; save it as UTF-8", "不是 UTF-8 文本；请保存为 UTF-8"),
    "job.control_character": (
        "the character {code} cannot stand in a job file; remove it",
        "作业文件中不能出现字符 {code}；请删除",
    ),
    # YAML
    "job.empty": ("is empty; a job file starts with `name:`", "文件为空；作业文件以 `name:` 开头"),
    "job.yaml": ("is not valid YAML: {problem}", "不是合法的 YAML：{problem}"),
    "job.tab": ("a tab indents this line; YAML wants spaces", "此行以制表符缩进；YAML 要求使用空格"),
    "job.documents": (
        "a second document starts here; a job file is one document",
        "此处开始了第二个文档；作业文件只能包含一个文档",
    ),
    "job.tag": (
        "YAML tags ({tag}) are not allowed; write the plain value",
        "不允许使用 YAML 标签（{tag}）；请直接写值",
    ),
    "job.merge_key": ("merge keys (<<) are not allowed; write the keys out", "不允许使用合并键（<<）；请逐一写出各键"),
    "job.alias": (
        "the alias *{name} refers to nothing that ends before it",
        "别名 *{name} 之前没有已结束的对应锚点",
    ),
    "job.too_deep": ("nested deeper than {limit} levels", "嵌套超过 {limit} 层"),
    "job.too_much": (
        "more than {limit} keys and values (long texts count several times, aliases in full)",
        "键和值超过 {limit} 个（长文本按多个计，别名按展开后计）",
    ),
    "job.key_not_text": (
        "the key {key} is not text; put it in quotes if it is meant as text",
        "键 {key} 不是文本；若确为文本请加引号",
    ),
    "job.duplicate_key": (
        "the key {key} is here for the second time; the first is in line {first}",
        "键 {key} 在此重复；第一次出现在第 {first} 行",
    ),
    "job.not_a_mapping": (
        "is no job: keys and values are wanted, such as `name: my_job`",
        "不是作业：应为键值对，例如 `name: my_job`",
    ),
    # Keys and their values
    "job.unknown_key": (
        "unknown key {key}; the nearest is {nearest}; known here: {known}",
        "未知的键 {key}；最接近的是 {nearest}；此处可用：{known}",
    ),
    "job.unknown_key.far": (
        "unknown key {key}; known here: {known}",
        "未知的键 {key}；此处可用：{known}",
    ),
    "job.missing": ("the key {key} is missing; it is required", "缺少必需的键 {key}"),
    "job.not_a_scalar": (
        "{key} wants one value, not a list or keys of its own",
        "{key} 应为单个值，而不是列表或键值对",
    ),
    "job.want_mapping": ("{key} wants keys and values, not {value}", "{key} 应为键值对，而不是 {value}"),
    "job.want_list": ("{key} wants a list, not {value}", "{key} 应为列表，而不是 {value}"),
    "job.want_text": (
        "{key} wants text, not {value}; put it in quotes",
        "{key} 应为文本，而不是 {value}；请加引号",
    ),
    "job.want_bool": ("{key} wants true or false, not {value}", "{key} 应为 true 或 false，而不是 {value}"),
    "job.want_integer": ("{key} wants a whole number, not {value}", "{key} 应为整数，而不是 {value}"),
    "job.want_number": ("{key} wants a number, not {value}", "{key} 应为数字，而不是 {value}"),
    "job.range": (
        "{key} is {value}; it has to lie between {low} and {high}",
        "{key} 为 {value}；取值必须在 {low} 与 {high} 之间",
    ),
    "job.range_above": (
        "{key} is {value}; it has to be above {low} and at most {high}",
        "{key} 为 {value}；取值必须大于 {low}，且不超过 {high}",
    ),
    "job.choice": ("{key} is {value}; it has to be one of {allowed}", "{key} 为 {value}；只能是 {allowed} 之一"),
    "job.want_name": (
        "{key} is {value}; it wants 1 to 48 of a-z, 0-9, _ and -, the first a letter or digit",
        "{key} 为 {value}；应为 1 到 48 个 a-z、0-9、_、- 字符，首字符为字母或数字",
    ),
    "job.want_stack": (
        "{key} is {value}; it wants the name of a stack, such as cann-9.0.0",
        "{key} 为 {value}；应为版本集（stack）的名称，例如 cann-9.0.0",
    ),
    "job.want_module": (
        "{key} is {value}; it wants a Python module, such as verl.trainer.main_ppo",
        "{key} 为 {value}；应为 Python 模块，例如 verl.trainer.main_ppo",
    ),
    "job.want_script": (
        "{key} is {value}; it wants a Python file, such as examples/train.py",
        "{key} 为 {value}；应为 Python 文件，例如 examples/train.py",
    ),
    "job.script_and_module": (
        "trainer.script and trainer.module are both there; keep the one that is to run",
        "同时给出了 trainer.script 与 trainer.module；请只保留要运行的一个",
    ),
    "job.want_host": (
        "{key} is {value}; it wants a host name or an IP address",
        "{key} 为 {value}；应为主机名或 IP 地址",
    ),
    "job.want_label_selector": (
        "{key} is {value}; it wants Ray's label selector, a3 or !a3 or in(a2,a3) or !in(a2,a3), each value of at most "
        "63 letters, digits, dots, underscores and dashes",
        "{key} 为 {value}；应为 Ray 标签选择器：“a3”、“!a3”、“in(a2,a3)”、“!in(a2,a3)” 之一，"
        "每个值至多 63 个字母、数字、点、下划线或连字符",
    ),
    "job.want_absolute_path": (
        "{key} is {value}; it wants an absolute path on the nodes",
        "{key} 为 {value}；应为节点上的绝对路径",
    ),
    "job.want_override": (
        "{key} is {value}; it wants a trainer argument with its value, such as "
        "actor_rollout_ref.rollout.gpu_memory_utilization=0.6",
        "{key} 为 {value}；应为带值的训练器参数，例如 actor_rollout_ref.rollout.gpu_memory_utilization=0.6",
    ),
    "job.want_env_name": (
        "{key} is {value}; it wants the name of an environment variable",
        "{key} 为 {value}；应为环境变量名",
    ),
    "job.env_name": (
        "{name} is no name of an environment variable; use letters, digits and _",
        "{name} 不是合法的环境变量名；请使用字母、数字和 _",
    ),
    "job.flag_null": (
        'the flag {name} has no value; write "" for an empty one',
        '环境变量 {name} 没有值；若为空值请写 ""',
    ),
    "job.secret_form": (
        "the secret {name} wants exactly one of `file:` (a path on the nodes) and `env:` (a variable there)",
        "密钥 {name} 必须且只能有 `file:`（节点上的路径）或 `env:`（节点上的变量）之一",
    ),
    "job.torchrun_unused": (
        "trainer.torchrun counts only with `launcher: torchrun`; remove it or change the launcher",
        "trainer.torchrun 仅在 `launcher: torchrun` 时有效；请删除它或更改 launcher",
    ),
    "job.group_name": (
        "{name} is no name of a group; use letters, digits, _ and -, at most 48",
        "{name} 不是合法的参数组名；请使用字母、数字、_ 和 -，最多 48 个字符",
    ),
    "job.text_form": (
        "{{$text: …}} stands alone and holds one text; put it in quotes",
        "{{$text: …}} 必须单独出现且只含一段文本；请加引号",
    ),
    # Scalars
    "job.unquoted": (
        "YAML reads {value} as a {kind}; put it in quotes if it is meant as text",
        "YAML 将 {value} 读作 {kind}；若确为文本请加引号",
    ),
    "job.number_spelling": (
        "YAML reads {value} as {number}, Hydra as text; write {number}, or put {value} in quotes",
        "YAML 将 {value} 读作 {number}，Hydra 则读作文本；请写 {number}，或给 {value} 加引号",
    ),
    "job.number_broken": (
        "YAML takes {value} for a number and cannot read it; put it in quotes if it is meant as text",
        "YAML 将 {value} 当作数字但无法读取；若确为文本请加引号",
    ),
    "job.number_range": (
        "{value} is too large for a floating-point number; write .inf if that is meant",
        "{value} 超出浮点数范围；若确为无穷大请写 .inf",
    ),
    "job.number_long": ("a number of more than {limit} characters", "数字超过 {limit} 个字符"),
    # Variables
    "job.variable_name": (
        "{name} is no name of a variable; use letters, digits and _",
        "{name} 不是合法的变量名；请使用字母、数字和 _",
    ),
    "job.undefined": (
        "the variable {name} is not defined; did you mean {nearest}?",
        "变量 {name} 未定义；是否应为 {nearest}？",
    ),
    "job.undefined_alone": (
        "the variable {name} is not defined; define it under variables:",
        "变量 {name} 未定义；请在 variables: 中定义",
    ),
    "job.reference": (
        "{reference} is no reference; write ${{NAME}}, ${{{{ 2 * NAME }}}}, or {{$text: …}} for what is Hydra's",
        "{reference} 不是变量引用；请写 ${{NAME}}、${{{{ 2 * NAME }}}}，属于 Hydra 的内容请写 {{$text: …}}",
    ),
    "job.environment_lacks": (
        "${{{name}}} has no value: the environment does not set {name}",
        "${{{name}}} 没有值：环境中未设置 {name}",
    ),
    "job.cycle": (
        "variables refer to each other in a circle: {cycle}",
        "变量循环引用：{cycle}",
    ),
    "job.expanded": (
        "variables expand to more than {limit} characters",
        "变量展开后超过 {limit} 个字符",
    ),
    "job.set_form": ("wants NAME=VALUE", "格式应为 NAME=VALUE"),
    "job.set_undeclared": (
        "the job declares no variable {name}; did you mean {nearest}?",
        "作业未声明变量 {name}；是否应为 {nearest}？",
    ),
    "job.set_undeclared_alone": (
        "the job declares no variable {name}; the job file's variables: lists those that --set takes",
        "作业未声明变量 {name}；--set 可用的变量见作业文件的 variables:",
    ),
    "job.not_text": (
        "is not UTF-8 text, or holds a NUL character",
        "不是 UTF-8 文本，或包含 NUL 字符",
    ),
    "job.declared_twice": (
        "{name} is here for the second time; the first is under {section} in line {line}",
        "{name} 在此重复；第一次出现在 {section} 的第 {line} 行",
    ),
    # What an import decided
    "job.decided": (
        "the imported script ran this way with {name}={value}, and --set or the environment gives another value: it "
        "may take another way; unset {name}, or import the script again with --set {name}=…",
        "所导入脚本的走向取决于 {name}={value}，而 --set 或环境给出了另一个值，脚本可能走向不同；"
        "请取消设置 {name}，或用 --set {name}=… 重新导入脚本",
    ),
    "job.decided_unset": (
        "the imported script ran this way with {name} unset, and --set or the environment sets it: it may take another "
        "way; unset {name}, or import the script again with --set {name}=…",
        "所导入脚本的走向取决于 {name} 未设置，而 --set 或环境设置了它，脚本可能走向不同；"
        "请取消设置 {name}，或用 --set {name}=… 重新导入脚本",
    ),
    "job.required": (
        "the imported script stops without {name}: set it in the environment, here, or by --set {name}=VALUE",
        "缺少 {name} 时所导入的脚本会停止：请在环境变量、此文件中或用 --set {name}=VALUE 设置",
    ),
    "job.unquoted_name": (
        "{name} is none of the job's variables; did you mean {nearest}?",
        "{name} 不是作业的变量；是否应为 {nearest}？",
    ),
    "job.unquoted_name.far": (
        "{name} is none of the job's variables; list names of variables:, or leave it out",
        "{name} 不是作业的变量；请列出 variables: 中的名称，或将其去掉",
    ),
    "job.unquoted_value": (
        "the imported script has {name} without quotes, and bash would split this value at spaces and expand * ? [ in "
        "it; quote it in the script and import it again, or write the value into the job file",
        "所导入脚本中 {name} 未加引号，bash 会在空白处拆分该值，并展开其中的 * ? [；"
        "请在脚本中加引号并重新导入，或把该值写入作业文件",
    ),
    # Expressions
    "job.expression": (
        "cannot compute {expression}; allowed are whole numbers, variables, + - * // % ( )",
        "无法计算 {expression}；只允许整数、变量、+ - * // % ( )",
    ),
    "job.expression_long": (
        "an expression of more than {limit} characters",
        "表达式超过 {limit} 个字符",
    ),
    "job.expression_zero": ("{expression} divides by zero", "{expression} 除以零"),
    "job.expression_octal": (
        "{value} in {expression} is another number in bash, which reads a leading zero as octal; leave the zero out",
        "{expression} 中的 {value} 在 bash 中是另一个数（前导零表示八进制）；请去掉前导零",
    ),
    "job.expression_negative": (
        "{expression} divides with a negative number, which bash rounds towards zero, and a job file downwards; write "
        "the result",
        "{expression} 含负数的除法或取余：bash 向零取整，作业文件向下取整；请直接写结果",
    ),
    "job.expression_range": (
        "{expression} goes beyond {limit}",
        "{expression} 超出 {limit}",
    ),
    "job.operand_octal": (
        "{name} is {value}, which bash reads as octal in an expression; leave the leading zero out",
        "{name} 为 {value}，bash 在表达式中会将其读作八进制；请去掉前导零",
    ),
    "job.operand": (
        "{name} is {value}, and an expression needs a whole number of at most {limit} digits",
        "{name} 为 {value}，而表达式需要至多 {limit} 位的整数",
    ),
}
