import { spawnSync } from 'node:child_process'

/** Whether processes can be kept to some of the cores: by taskset of util-linux. */
export function hasAffinity(): boolean {
  return spawnSync('taskset', ['--version']).status === 0
}

/**
 * Keeps a process, with all of its threads, to some of the cores.
 *
 * @param cores as taskset(1) has them: 0-3
 */
export function pin(pid: number, cores: string): void {
  const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', cores, String(pid)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`taskset ${cores} ${pid}: ${stderr}`)
}
