# Context parallelism: groups of ranks, and tensors on their way between them.
# SPDX-License-Identifier: MIT
import torch.distributed as dist

from .._errors import BadInput

# What operators take for a group is its name.
GROUPS = {}


def name_of(group):
    """The name of a group, the default one where it is None, as group_of() takes it."""
    if not dist.is_available() or not dist.is_initialized():
        raise BadInput("there is no group: call torch.distributed.init_process_group() first")
    group = dist.group.WORLD if group is None else group
    if dist.get_rank(group) < 0:
        raise BadInput("this process is not in the group")
    GROUPS[group.group_name] = group
    return group.group_name


def group_of(name):
    return GROUPS[name]


def place_in(name):
    """Rank and number of ranks."""
    return dist.get_rank(GROUPS[name]), dist.get_world_size(GROUPS[name])


class Pending:
    """A transfer that has begun. NCCL has a stream of its own for it, beside what is launched until wait()."""

    def __init__(self, works, sent, received):
        # What is sent has to live until it is.
        self.works, self.sent, self.received = works, sent, received

    def wait(self):
        """What has arrived. On CUDA the current stream waits, not the host."""
        for work in self.works:
            work.wait()
        self.sent = None
        return self.received
