"""Commands of SLURM made of shell scripts: jobs are processes, and a file silences the controller.

Jobs, their ends and what was asked lie in a folder. While the file `silent` is there, squeue,
sbatch and scancel fail as where the controller does not answer, and hang where the file is not
empty. The first submission copies it from a file `then-silent`.
"""

SILENT = """\
if [ -s "$TOY/silent" ]; then exec sleep 300; fi
if [ -e "$TOY/silent" ]; then
  echo "slurm error: Unable to contact slurm controller (connect failure)" >&2; exit 1
fi
"""
SCRIPTS = {
    "sbatch": SILENT
    + """\
for word; do
  case $word in
    --wrap=*) wrapped=${word#--wrap=} ;;
    nosuch) echo "sbatch: error: Batch job submission failed: Invalid feature specification" >&2
      exit 1 ;;
  esac
done
job=$(( $(ls "$TOY/jobs" | wc -l) + 1 ))
touch "$TOY/jobs/$job"
export wrapped job
setsid sh -c 'sh -c "$wrapped"; echo $? > "$TOY/$job.end"' > "$TOY/$job.log" 2>&1 < /dev/null &
echo $! > "$TOY/jobs/$job"
[ ! -e "$TOY/then-silent" ] || cp "$TOY/then-silent" "$TOY/silent"
echo $job
""",
    "squeue": 'echo "$*" >> "$TOY/looks"\n'
    + SILENT
    + """\
for job in $(ls "$TOY/jobs"); do
  state=RUNNING
  [ ! -e "$TOY/$job.end" ] || state=FAILED
  [ "$(cat "$TOY/$job.end" 2> /dev/null)" != 0 ] || state=COMPLETED
  echo "$job|$state"
done
""",
    "scancel": SILENT
    + """\
echo "$*" >> "$TOY/cancelled"
for pid in $(cat "$TOY"/jobs/*); do kill -- "-$pid" 2> /dev/null; done
exit 0
""",
    "srun": 'while case $1 in -*) true ;; *) false ;; esac; do shift; done\nexec "$@"\n',
    "sinfo": "echo 'main*'\n",
    "scontrol": "echo 'MinJobAge = 300 sec'\n",
    "sacct": """\
case "$*" in *" -1"*) echo "sacct: invalid option -- '1'" >&2 ;; esac
echo "Slurm accounting storage is disabled" >&2
exit 1
""",
    "sacctmgr": "exit 1\n",
    "sshare": "exit 1\n",
}


def install(folder):
    """Write the commands into a folder; return the variables by which processes use them."""
    (folder / "bin").mkdir(parents=True)
    (folder / "jobs").mkdir()
    for name, script in SCRIPTS.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}")
        (folder / "bin" / name).chmod(0o755)
    return {"TOY": str(folder), "PATH": f"{folder / 'bin'}:/usr/bin:/bin"}
