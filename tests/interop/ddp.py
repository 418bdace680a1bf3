"""Plain PyTorch: init_process_group without a word, and DistributedDataParallel."""

import os

import torch
from torch import distributed
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import common

distributed.init_process_group("gloo")
rank = distributed.get_rank()
module = common.make_model(rank)
model = DistributedDataParallel(module)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
data = common.make_data()
loader = DataLoader(data, common.BATCH, sampler=DistributedSampler(data))
low = common.PRECISION == "bf16"
losses = []
for step, (inputs, target) in zip(range(common.STEPS), loader):
    common.fail_at(step, rank)
    with torch.autocast("cpu", torch.bfloat16, enabled=low):
        output = model(inputs)
    loss = mse_loss(output.float(), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
common.tell(
    rank=rank,
    world=distributed.get_world_size(),
    local_rank=int(os.environ["LOCAL_RANK"]),
    precision="bf16" if output.dtype == torch.bfloat16 else "no",
    elastic=distributed.is_torchelastic_launched(),
    losses=losses,
    weights=common.fingerprint(module),
)
