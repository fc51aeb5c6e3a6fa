"""Texts of the way to Ray: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cluster.address_credentials": (
        "the cluster's address holds a user name or password: give the address alone, and the token in RAY_AUTH_TOKEN",
        "集群地址中含有用户名或密码：请只写地址，令牌放在 RAY_AUTH_TOKEN 中",
    ),
    "cluster.address_ray_client": (
        "{value} is a Ray Client address: npurun needs the dashboard's, as in http://HEAD_IP:8265",
        "{value} 是 Ray Client 地址：npurun 需要 dashboard 地址，例如 http://头节点IP:8265",
    ),
    "cluster.address_bad": (
        "'{value}' is no address of a Ray dashboard: write it as http://HEAD_IP:8265",
        "'{value}' 不是 Ray dashboard 地址：请写成 http://头节点IP:8265",
    ),
    "cluster.token_unreadable": (
        "the token file {path} cannot be read ({reason}): correct RAY_AUTH_TOKEN_PATH or its permissions",
        "无法读取令牌文件 {path}（{reason}）：请检查 RAY_AUTH_TOKEN_PATH 或文件权限",
    ),
    "cluster.token_empty": (
        "the token of {source} is empty: write the cluster's token there, or remove it",
        "{source} 中的令牌为空：请写入集群令牌，或将其删除",
    ),
    "cluster.token_malformed": (
        "the token of {source} holds spaces or characters other than ASCII: it must be one line, as "
        "`ray get-auth-token` prints it",
        "{source} 中的令牌含有空格或非 ASCII 字符：它应为一行，即 `ray get-auth-token` 的输出",
    ),
    "cluster.ca_unreadable": (
        "the CA bundle {path} cannot be used ({reason}): it must be a PEM file",
        "CA 证书文件 {path} 无法使用（{reason}）：应为 PEM 文件",
    ),
    "cluster.submission_id": (
        "'{value}' is no submission id: a-z, 0-9 and -, at most 63 characters",
        "'{value}' 不是合法的提交 ID：只能用 a-z、0-9 和 -，至多 63 个字符",
    ),
    "cluster.name_not_resolved": (
        "{address}: the host name cannot be resolved ({reason}): check --address; proxies of the environment are "
        "not used",
        "{address}：无法解析主机名（{reason}）：请检查 --address；npurun 不使用环境中的代理",
    ),
    "cluster.port_refused": (
        "{address}: nothing listens there: is Ray's dashboard running, and is this its port (8265 by default)?",
        "{address}：该端口没有服务：Ray dashboard 是否在运行，端口是否正确（默认 8265）？",
    ),
    "cluster.no_connection": (
        "{address}: no connection within {seconds} s: check address and firewall; proxies of the environment are "
        "not used",
        "{address}：{seconds} 秒内未能建立连接：请检查地址和防火墙；npurun 不使用环境中的代理",
    ),
    "cluster.no_answer": (
        "{address}: connected, but no answer within {seconds} s: the dashboard hangs, or Ray's GCS is gone; "
        "look at the head node",
        "{address}：已连接，但 {seconds} 秒内没有应答：dashboard 卡住或 Ray 的 GCS 已退出，请检查头节点",
    ),
    "cluster.dropped": (
        "{address}: the connection was closed without an answer: Ray's dashboard is restarting, or the port speaks "
        "https",
        "{address}：连接未应答即被关闭：Ray dashboard 正在重启，或该端口使用 https",
    ),
    "cluster.network": ("{address}: the network says: {reason}", "{address}：网络错误：{reason}"),
    "cluster.gcs_port": (
        "{address}: this is not the dashboard's port but one that speaks gRPC, such as Ray's GCS (6379): use the "
        "dashboard's, 8265 by default",
        "{address}：这不是 dashboard 端口，而是 gRPC 端口（如 Ray GCS 的 6379）：请使用 dashboard 端口，默认 8265",
    ),
    "cluster.not_http": (
        "{address}: what listens there does not speak HTTP: give the address of Ray's dashboard",
        "{address}：该端口的服务不是 HTTP：请填写 Ray dashboard 的地址",
    ),
    "cluster.not_json": (
        "{address}: the answer is not Ray's (no JSON): a login page or another service? Give the dashboard's address",
        "{address}：应答不是 Ray 的（不是 JSON）：可能是登录页或其他服务，请填写 Ray dashboard 的地址",
    ),
    "cluster.not_ray": (
        "{address}: answers, but not as Ray's dashboard does: check the address",
        "{address}：有应答，但不是 Ray dashboard：请检查地址",
    ),
    "cluster.truncated": (
        "{address}: the answer was cut short: the dashboard or a proxy in front of it closed the connection; try again",
        "{address}：应答被截断：dashboard 或其前面的代理关闭了连接，请重试",
    ),
    "cluster.too_large": (
        "{address}: the answer is larger than {limit}: is this Ray's dashboard?",
        "{address}：应答超过 {limit}：这是 Ray dashboard 吗？",
    ),
    "cluster.token_wanted": (
        "{address}: wants a token (HTTP {code}) and none was found: set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH",
        "{address}：需要令牌（HTTP {code}），但没有找到：请设置 RAY_AUTH_TOKEN 或 RAY_AUTH_TOKEN_PATH",
    ),
    "cluster.token_refused": (
        "{address}: refuses the token of {source} (HTTP {code}): is it this cluster's?",
        "{address}：拒绝了 {source} 中的令牌（HTTP {code}）：它是这个集群的令牌吗？",
    ),
    "cluster.no_route": (
        "{address}: not found (HTTP 404: {cause}): is this the address of Ray's dashboard, without a path?",
        "{address}：找不到（HTTP 404：{cause}）：这是 Ray dashboard 的地址吗？地址后不应有路径",
    ),
    "cluster.busy": (
        "{address}: the dashboard is busy: {cause}; try again later",
        "{address}：dashboard 繁忙：{cause}；请稍后再试",
    ),
    "cluster.server_error": (
        "{address}: Ray fails (HTTP {code}): {cause}",
        "{address}：Ray 出错（HTTP {code}）：{cause}",
    ),
    "cluster.refused": (
        "{address}: refuses the request (HTTP {code}): {cause}",
        "{address}：拒绝了请求（HTTP {code}）：{cause}",
    ),
    "cluster.redirects": (
        "{address}: more than {limit} redirects: give the dashboard's own address",
        "{address}：重定向超过 {limit} 次：请直接填写 dashboard 的地址",
    ),
    "cluster.redirect_refused": (
        "{address}: redirects the {method} to {target}, which is not followed: use that address if it is Ray's",
        "{address}：将 {method} 重定向到 {target}，npurun 不会跟随：若那是 Ray 的地址请直接使用",
    ),
    "cluster.tls_untrusted": (
        "{address}: its certificate is not trusted ({reason}): give the CA with --ca or REQUESTS_CA_BUNDLE",
        "{address}：证书不受信任（{reason}）：请用 --ca 或 REQUESTS_CA_BUNDLE 指定 CA 证书",
    ),
    "cluster.tls": (
        "{address}: no TLS connection ({reason}): does this port speak plain http?",
        "{address}：无法建立 TLS 连接（{reason}）：该端口是否只支持 http？",
    ),
    "cluster.no_head": (
        "{address}: the cluster lists no living head node: is Ray still starting?",
        "{address}：集群没有存活的头节点：Ray 是否仍在启动？",
    ),
    "cluster.log_away": (
        "the log of {submission} cannot be read at the moment ({error}); npurun keeps trying",
        "暂时无法读取 {submission} 的日志（{error}）；npurun 会继续重试",
    ),
    "cluster.log_unstreamable": (
        "Ray cannot stream the log of {submission} (a byte that is no UTF-8, a line of megabytes, or a proxy without "
        "websockets): it is read every {seconds} s instead",
        "Ray 无法以流方式提供 {submission} 的日志（含非 UTF-8 字节、单行数 MB，或代理不支持 websocket）："
        "改为每 {seconds} 秒读取一次",
    ),
}
