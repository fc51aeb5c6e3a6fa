"""Texts of rendering and packing: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "ray.too_old": (
        "the cluster runs Ray {version}, older than {oldest}, the oldest that npurun was tested on: upgrade Ray there",
        "集群运行的是 Ray {version}，早于 npurun 测试过的最低版本 {oldest}：请升级集群的 Ray",
    ),
    "package.unreadable": (
        "the working_dir {folder} cannot be packed: {why}",
        "无法打包 working_dir {folder}：{why}",
    ),
    "package.foreign_file": (
        "this file is not part of the package that goes to {folder}, and would travel with it: delete it or choose "
        "another folder",
        "该文件不属于要写入 {folder} 的包，但会随之一起上传：请删除它或换一个目录",
    ),
}
