import { readFileSync } from 'node:fs'

/** How long a file or a test took. */
export type Timing = { readonly name: string; readonly seconds: number; readonly cpuSeconds?: number }

/**
 * CPU time of this process and of its ended children, which process.cpuUsage leaves out; without
 * the children outside Linux.
 */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000 + childrenSeconds()
}

/** Fields 16 and 17 of proc_pid_stat(5), in hundredths of a second. */
function childrenSeconds(): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The name in parentheses may contain blanks; field 3 follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** The slowest, one line each. */
export function toTable(timings: readonly Timing[], count = 40): string[] {
  const slowest = timings.toSorted((a, b) => b.seconds - a.seconds).slice(0, count)
  return slowest.map(({ name, seconds, cpuSeconds }) => {
    const cpu = cpuSeconds === undefined ? '' : `${cpuSeconds.toFixed(1).padStart(8)} s CPU`
    return `${seconds.toFixed(1).padStart(8)} s${cpu}  ${name}`
  })
}
