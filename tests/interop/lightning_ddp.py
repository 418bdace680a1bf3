"""Lightning: it finds the ranks by itself, and must not start any of its own."""

import os

import lightning
import torch
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader

import common


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = common.make_model(int(os.environ["RANK"]))
        self.losses = []
        self.seen = None

    def training_step(self, batch, index):
        common.fail_at(index, self.global_rank)
        inputs, target = batch
        output = self.net(inputs)
        self.seen = output.dtype
        loss = mse_loss(output.float(), target)
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


module = Regression()
trainer = lightning.Trainer(
    accelerator="cpu",
    strategy="ddp",
    devices=int(os.environ["LOCAL_WORLD_SIZE"]),
    precision={"no": "32-true", "bf16": "bf16-mixed"}[common.PRECISION],
    max_steps=common.STEPS,
    default_root_dir=common.FOLDER,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(module, DataLoader(common.make_data(), common.BATCH, shuffle=True))
common.tell(
    rank=trainer.global_rank,
    world=trainer.world_size,
    local_rank=trainer.local_rank,
    precision="bf16" if module.seen == torch.bfloat16 else "no",
    environment=type(trainer.strategy.cluster_environment).__name__,
    losses=module.losses,
    weights=common.fingerprint(module.net),
)
