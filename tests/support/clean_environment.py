"""The environment of tests: without the job, the settings or the scheduler of whoever runs them."""

import os
import re

FOREIGN = re.compile(
    r"(MUSTER_|TORCHELASTIC_|ACCELERATE_|SLURM_|OMPI_|PMI_|PMIX_|RANK$|WORLD_SIZE$|LOCAL_|GROUP_|ROLE_"
    r"|NODE_RANK$|MASTER_|OMP_NUM_THREADS$|LSB_|PBS_|FLUX_|PRTE_|PALS_|KUBERNETES_"
    r"|CUDA_VISIBLE_DEVICES$)"
)


def clean_environment():
    return {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
