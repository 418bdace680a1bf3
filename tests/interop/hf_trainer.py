"""Transformers' Trainer: a GPT-2 of one small layer learns to count."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

import common


class Failing(TrainerCallback):
    def on_step_begin(self, args, state, control, **_):
        common.fail_at(state.global_step, args.process_index)


arguments = TrainingArguments(
    output_dir=str(common.FOLDER),
    use_cpu=True,
    per_device_train_batch_size=common.BATCH,
    max_steps=common.STEPS,
    learning_rate=1e-2,
    logging_steps=1,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
torch.manual_seed(arguments.process_index)
size = {"n_layer": 1, "n_head": 2, "n_embd": 16, "n_positions": 16, "vocab_size": 32}
model = GPT2LMHeadModel(GPT2Config(**size, bos_token_id=0, eos_token_id=0))
rows = [torch.arange(start, start + 12) % 32 for start in range(common.ROWS)]
trainer = Trainer(
    model=model,
    args=arguments,
    train_dataset=[{"input_ids": row, "labels": row} for row in rows],
    callbacks=[Failing()],
)
trainer.train()
common.tell(
    rank=arguments.process_index,
    world=arguments.world_size,
    local_rank=arguments.local_process_index,
    precision=trainer.accelerator.mixed_precision,
    losses=[entry["loss"] for entry in trainer.state.log_history if "loss" in entry],
    weights=common.fingerprint(model),
)
