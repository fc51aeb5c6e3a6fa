"""What a rehearsal reads out of the log and off the disk."""

import pytest

from submitter.rehearsal import results


@pytest.mark.parametrize("spelling", ["0.5", "np.float64(0.5)"])
def test_a_step_line_tells_step_and_mean_reward(spelling: str) -> None:
    line = f"(TaskRunnerV1 pid=1) step:3 - training/global_step:9 - critic/rewards/mean:{spelling} - perf/x:1"
    assert results.step_and_reward(line) == (3, 0.5)
    assert results.step_and_reward("step:0 - val/acc:1.0") is None
