"""Hugging Face Accelerate: precision and accumulation are the launcher's, none is given in code."""

import torch
from accelerate import Accelerator
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader

import common

accelerator = Accelerator()
rank = accelerator.process_index
module = common.make_model(rank)
optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
model, optimizer, loader = accelerator.prepare(
    module, optimizer, DataLoader(common.make_data(), common.BATCH, shuffle=True)
)
losses = []
for step, (inputs, target) in zip(range(common.STEPS), loader):
    common.fail_at(step, rank)
    with accelerator.accumulate(model):
        loss = mse_loss(model(inputs), target)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    losses.append(accelerator.gather(loss.detach()).mean().item())
common.tell(
    rank=rank,
    world=accelerator.num_processes,
    local_rank=accelerator.local_process_index,
    precision=accelerator.mixed_precision,
    accumulation=accelerator.gradient_accumulation_steps,
    device=accelerator.device.type,
    losses=losses,
    weights=common.fingerprint(module),
)
