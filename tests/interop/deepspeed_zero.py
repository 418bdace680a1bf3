"""DeepSpeed's engine, with its optimizer state sharded over the ranks (ZeRO 1)."""

import deepspeed
import torch
from deepspeed import comm
from torch.nn.functional import mse_loss

import common

deepspeed.init_distributed()
rank = comm.get_rank()
module = common.make_model(rank)
settings = {
    "train_micro_batch_size_per_gpu": common.BATCH,
    "zero_optimization": {"stage": 1},
    "zero_allow_untested_optimizer": True,
    "zero_force_ds_cpu_optimizer": False,
    "bf16": {"enabled": common.PRECISION == "bf16"},
}
engine, _, loader, _ = deepspeed.initialize(
    model=module,
    optimizer=torch.optim.AdamW(module.parameters(), lr=1e-2),
    training_data=common.make_data(),
    config=settings,
)
kind = next(engine.parameters()).dtype
losses = []
for step, (inputs, target) in zip(range(common.STEPS), loader):
    common.fail_at(step, rank)
    loss = mse_loss(engine(inputs.to(kind)).float(), target)
    engine.backward(loss)
    engine.step()
    losses.append(loss.item())
common.tell(
    rank=engine.global_rank,
    world=engine.world_size,
    local_rank=engine.local_rank,
    precision="bf16" if engine.bfloat16_enabled() and kind == torch.bfloat16 else "no",
    stage=engine.zero_optimization_stage(),
    losses=losses,
    weights=common.fingerprint(module),
)
