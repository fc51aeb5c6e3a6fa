"""Texts of reading a launch script: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    # The file
    "importer.unreadable": ("the script cannot be read: {reason}", "无法读取脚本：{reason}"),
    "importer.too_long": (
        "is longer than {limit} bytes; that is no launch script",
        "超过 {limit} 字节，不像是启动脚本",
    ),
    "importer.not_a_file": ("is no regular file; name the script's file", "不是普通文件；请指定脚本文件"),
    "importer.secret_changed": (
        "changes the text of {name}, which looks like a secret: what comes of it cannot be written into a job file",
        "此处改变了 {name} 的文本，而它像是密钥：其结果不能写入作业文件",
    ),
    "importer.binary": ("is a binary file, no script", "是二进制文件，不是脚本"),
    "importer.not_utf8": ("is not UTF-8 from this line on; save it as UTF-8", "从此行起不是 UTF-8；请保存为 UTF-8"),
    "importer.windows_lines": (
        "has Windows line ends, which bash takes for a part of each word; run dos2unix on it",
        "使用 Windows 换行符，bash 会把它当作单词的一部分；请先用 dos2unix 转换",
    ),
    "importer.parse_slow": (
        "could not be parsed within {limit} s; make it shorter",
        "{limit} 秒内未能完成语法分析；请缩短脚本",
    ),
    "importer.too_deep": ("is nested too deeply to be read", "嵌套过深，无法读取"),
    "importer.syntax": ("cannot be read as bash: {problem}", "无法按 bash 语法读取：{problem}"),
    "importer.no_shfmt": (
        "shfmt is not there: pip install shfmt-py (it belongs to npurun's own dependencies)",
        "找不到 shfmt：请执行 pip install shfmt-py（它是 npurun 自身的依赖）",
    ),
    # What ends the reading
    "importer.unsupported": (
        "cannot be imported: {what} is not known to the import",
        "无法导入：导入功能不支持 {what}",
    ),
    "importer.endless": (
        "cannot be imported: more than {limit} steps; an endless loop?",
        "无法导入：超过 {limit} 步；是否是死循环？",
    ),
    "importer.endless_loop": (
        "cannot be imported: a loop of more than {limit} rounds; does it wait for something?",
        "无法导入：循环超过 {limit} 次；它在等待什么吗？",
    ),
    "importer.too_many_words": (
        "cannot be imported: braces or an array of more than {limit} words",
        "无法导入：花括号或数组超过 {limit} 个词",
    ),
    "importer.too_slow": (
        "cannot be imported within {limit} s: its loops, braces or patterns multiply",
        "{limit} 秒内无法完成导入：其中的循环、花括号或模式会成倍增长",
    ),
    "importer.too_large": (
        "cannot be imported within {limit} GiB of memory: its texts or arrays multiply",
        "{limit} GiB 内存内无法完成导入：其中的文本或数组会成倍增长",
    ),
    "importer.recursion": (
        "cannot be imported: more than {limit} functions or scripts inside each other",
        "无法导入：函数或脚本的嵌套超过 {limit} 层",
    ),
    "importer.variable_long": (
        "cannot be imported: {name} becomes longer than {limit} characters",
        "无法导入：{name} 超过 {limit} 个字符",
    ),
    "importer.hangs_on_machine": (
        "what happens here hangs on {what}, which only the machine knows; give it: --set {name}=VALUE",
        "此处取决于 {what}，只有运行它的机器才知道；请给出：--set {name}=VALUE",
    ),
    "importer.unset": (
        "bash stops here: {name} is not set, and the script has set -u; give it: --set {name}=VALUE",
        "bash 会在此停止：{name} 未设置，而脚本启用了 set -u；请给出：--set {name}=VALUE",
    ),
    "importer.unset_here": (
        "bash stops here: {name} is unset by the script itself, which has set -u",
        "bash 会在此停止：脚本自己取消了 {name}，而它启用了 set -u",
    ),
    "importer.unset_positional": (
        "bash stops here: the script has no argument {name}; give its arguments after --",
        "bash 会在此停止：脚本没有第 {name} 个参数；请在 -- 之后给出脚本参数",
    ),
    "importer.required": (
        "bash stops here: {name} has to be set ({why}); give it: --set {name}=VALUE",
        "bash 会在此停止：必须设置 {name}（{why}）；请给出：--set {name}=VALUE",
    ),
    "importer.bad_substring": (
        "bash stops here: the substring ends before it begins",
        "bash 会在此停止：子串的结尾在开头之前",
    ),
    "importer.ends": (
        "the script ends here with status {status} before it starts a training; it says: {said}; its arguments go "
        "after --, its variables by --set",
        "脚本在启动训练之前于此结束，状态码 {status}；它的输出：{said}；脚本参数放在 -- 之后，变量用 --set 给出",
    ),
    "importer.only_prepares": (
        "the script starts {target} alone, which prepares data or looks at results: no training to import",
        "脚本只启动了 {target}，它用于准备数据或查看结果：没有可导入的训练",
    ),
    "importer.starts_nothing": (
        "the script starts no python, torchrun or ray job submit: nothing to import",
        "脚本没有启动 python、torchrun 或 ray job submit：没有可导入的内容",
    ),
    "importer.set_unread": (
        "the script reads no variable {name}; did you mean {nearest}?",
        "脚本不读取变量 {name}；是否想写 {nearest}？",
    ),
    "importer.set_unread_alone": ("the script reads no variable {name}", "脚本不读取变量 {name}"),
    "importer.no_such_launch": (
        "the script starts {count} training(s), at line {lines}: --launch 1 to {count}",
        "脚本启动了 {count} 个训练，位于第 {lines} 行：--launch 可取 1 到 {count}",
    ),
    "importer.not_a_job": (
        "what is started here cannot be said in a job file: {reason}",
        "此处启动的内容无法写成作业文件：{reason}",
    ),
    "importer.unequal": (
        "cannot be imported: {what} would not be passed on exactly as bash does; please report this script",
        "无法导入：{what} 无法与 bash 完全一致地传递；请反馈此脚本",
    ),
    # Warnings
    "importer.rest_unread": (
        "from here on the script was not read, further trainings in it would not be seen: {why}",
        "从此处起未读取脚本，其中若还有训练则不会被发现：{why}",
    ),
    "importer.from_environment": (
        "{name} was taken from this environment and shapes the file: it counts wherever {name} is not set",
        "{name} 取自当前环境并影响生成的文件：在未设置 {name} 的地方也按此值运行",
    ),
    "importer.several": (
        "the script starts {count} trainings, at lines {lines}: this is the first; --launch N imports another",
        "脚本启动了 {count} 个训练，位于第 {lines} 行：此处导入第一个；用 --launch N 导入其他的",
    ),
    "importer.glob": (
        "{text} stands for {count} files here: their names are written into the job file",
        "{text} 在此处匹配 {count} 个文件：其文件名会写入作业文件",
    ),
    "importer.file_decides": (
        "whether there is {path} on this machine decided how the script goes on",
        "脚本的走向取决于本机是否有 {path}",
    ),
    "importer.bad_test": (
        "bash says: {problem}; the condition counts as false",
        "bash 会报错：{problem}；该条件视为假",
    ),
    "importer.expansion_error": (
        "bash says: {problem}; it drops this command and goes on with the next",
        "bash 会报错：{problem}；它丢弃此命令并继续执行下一条",
    ),
    "importer.stops": (
        "bash stops here with status {status}, since the script has set -e",
        "由于脚本启用了 set -e，bash 会在此停止，状态码 {status}",
    ),
    "importer.no_words": (
        "nothing is left of this command: all its variables are empty",
        "此命令的变量全为空，什么也没有留下",
    ),
    "importer.no_default": (
        "{name} is not set and has no default: bash puts nothing there; set it in the job file "
        "or by --set {name}=VALUE",
        "{name} 未设置且没有默认值：bash 会代入空串；请在作业文件中或用 --set {name}=VALUE 设置",
    ),
    "importer.left_empty": (
        "{name} is left empty, since only the machine knows {what}: set it in the job file or by --set {name}=VALUE",
        "{name} 留空，因为只有运行它的机器才知道 {what}：请在作业文件中或用 --set {name}=VALUE 设置",
    ),
    "importer.comment_cuts": (
        "a comment inside a command that goes on: bash ends the command here, what follows is not passed on",
        "命令续行中间出现注释：bash 在此结束命令，其后的内容不会传递",
    ),
    "importer.no_shopt": (
        "shopt {name} has no effect on the import: patterns are read without it",
        "shopt {name} 对导入不起作用：模式按未启用它读取",
    ),
    "importer.bad_export": ("bash cannot export {text}", "bash 无法导出 {text}"),
    "importer.cut_short": (
        "bash takes {text} for a command of its own: the line before it lacks its backslash, so the arguments from "
        "here on are not passed",
        "bash 会把 {text} 当作单独的命令：上一行缺少反斜杠，因此从这里起的参数都不会传给训练",
    ),
    "importer.unknown_command": (
        "not carried over: {command}; it is taken to succeed",
        "未导入：{command}；假定它会成功",
    ),
    "importer.script_missing": (
        "bash finds no {path} from where the import runs: not carried over",
        "在导入所处的目录下，bash 找不到 {path}：未导入",
    ),
    "importer.no_such_folder": (
        "there is no folder {path} on this machine: cd fails",
        "本机没有目录 {path}：cd 会失败",
    ),
    "importer.no_such_file": ("there is no readable file {path} on this machine", "本机没有可读的文件 {path}"),
    "importer.no_folder": (
        "writes to {path}, but there is no folder {folder}: bash would not run this command; make the folder, or let "
        "npurun keep the log",
        "写入 {path}，但没有目录 {folder}：bash 不会执行此命令；请创建目录，或由 npurun 保存日志",
    ),
    "importer.tee_no_folder": (
        "tee writes to {path}, but there is no folder {folder}: the log would be lost; npurun keeps its own",
        "tee 写入 {path}，但没有目录 {folder}：日志会丢失；npurun 会自行保存日志",
    ),
    "importer.writes_file": (
        "not carried over: the script writes the file {path} before the launch; it has to be there on the cluster",
        "未导入：脚本在启动前写入文件 {path}；集群上必须已有它",
    ),
    "importer.assumed_there": ("{name} is taken to be installed", "假定已安装 {name}"),
    "importer.bad_runtime_env": (
        "the runtime_env of ray job submit cannot be read: {problem}",
        "无法读取 ray job submit 的 runtime_env：{problem}",
    ),
    "importer.runtime_env_missing": (
        "there is no {path} on this machine: what it sets for the workers is not carried over",
        "本机没有 {path}：其中为 worker 设置的内容未导入",
    ),
    "importer.runtime_env_key": (
        "not carried over: {key} of the runtime_env",
        "未导入：runtime_env 的 {key}",
    ),
    # Notes
    "importer.not_carried": ("not carried over: {command}", "未导入：{command}"),
    "importer.probe": (
        "{command}: answered as on a machine with NPUs; the other branch is dropped",
        "{command}：按有 NPU 的机器回答；另一分支被舍弃",
    ),
    "importer.branch": (
        "lines {first} to {last} are a branch for other devices than {device}: dropped",
        "第 {first} 至 {last} 行是 {device} 以外设备的分支：已舍弃",
    ),
    "importer.process_substitution": (
        "not carried over: what is written to a process substitution",
        "未导入：写入进程替换的内容",
    ),
    "importer.system_source": (
        "not carried over: source {path}; the nodes' Ray has to be started with it",
        "未导入：source {path}；各节点应在执行它之后启动 Ray",
    ),
    "importer.tee": ("not carried over: tee {path}; npurun keeps the log", "未导入：tee {path}；日志由 npurun 保存"),
    "importer.status_lost": (
        "the pipe loses the trainer's exit status here; npurun reads the trainer's own",
        "此处的管道会丢失训练程序的退出状态；npurun 直接读取训练程序的状态",
    ),
    "importer.exports_stay": (
        "ray job submit does not pass on what the script exports ({names}); the job file does",
        "ray job submit 不会传递脚本导出的变量（{names}）；作业文件会传递",
    ),
    "importer.submit_option": (
        "not carried over: {option} of ray job submit; npurun submit has its own options",
        "未导入：ray job submit 的 {option}；npurun submit 有自己的选项",
    ),
}
