"""The pipeline on a SLURM cluster: what is submitted, and how long a run takes there."""
