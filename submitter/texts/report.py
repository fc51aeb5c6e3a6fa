"""Texts that only reports have: id -> (English, Chinese). What they share with the pages is in web.py, web_pages.py."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.report.short": ("One page of a run, to keep or to send", "生成一个运行的单页报告，便于保存和发送"),
    "cli.report.help": (
        "Write one HTML page of a run that needs nothing but a browser: its figures, the curves of all attempts joined "
        "(what was trained again is marked), phases, where the time went, attempts with reasons and decisions, alerts, "
        "nodes, arguments, flags and versions. / It asks no server for anything; what looks like a secret is masked. "
        "By this machine's ledger alone: no cluster is asked. Needs: pip install 'npurun[web]'.",
        "为一个运行生成一个 HTML 页面，只需浏览器即可打开：主要数字、所有尝试拼接后的曲线（重新训练的部分有标记）、"
        "各阶段、时间去向、各次尝试及其原因和决定、警报、节点、参数、环境变量和版本。 / "
        "页面不访问任何服务器；疑似密钥的内容会被遮盖。"
        "只读本机记录，不访问集群。需要：pip install 'npurun[web]'。",
    ),
    "cli.report.no_file": (
        "a page of some MB is not for a terminal. Name a file: npurun report {run} -o {run}.html",
        "页面有数 MB，不适合输出到终端。请指定文件：npurun report {run} -o {run}.html",
    ),
    "report.not_installed": (
        "no report: {missing} is not installed. Install it with: pip install 'npurun[web]'",
        "无法生成报告：未安装 {missing}。安装：pip install 'npurun[web]'",
    ),
    "report.made": ("as of {at}", "截至 {at}"),
    "report.wall": ("Wall time", "总耗时"),
    "report.counts": ("steps that count", "计入结果的步"),
    "report.zoom": (
        "drag to zoom, double-click for the whole run; shaded: an alert about this metric",
        "拖动放大，双击恢复；阴影：与该指标有关的警报",
    ),
    "report.others": ("All other metrics", "其他全部指标"),
    "report.left_out": (
        "{count} more are not shown; npurun export {run} has them",
        "另有 {count} 项未显示；可用 npurun export {run} 导出",
    ),
    "report.phases_now": ("mean of the newest steps", "最近若干步的平均值"),
    "report.time": ("Where the time went", "时间去向"),
    "report.from": ("Went on", "起点"),
    "report.hbm_most": ("HBM, fullest", "HBM（最高）"),
    "report.power_most": ("Power, most", "功率（最高）"),
    "report.hottest": ("Hottest", "温度（最高）"),
    "report.facts.arguments": ("Arguments", "参数"),
    "report.facts.environment": ("Flags", "环境变量"),
    "report.facts.versions": ("Versions", "版本"),
    "report.facts.cluster": ("What the job asks for", "作业对集群的要求"),
    "report.foot": (
        "Made by npurun report. Times are {zone}. A curve with more points than a screen shows keeps its extremes.",
        "由 npurun report 生成。时间为 {zone}。点数超过屏幕所能显示的曲线保留其极值。",
    ),
}
