import { readFileSync } from 'node:fs'

/** The duration of a file or a test. */
export type Timing = { readonly name: string; readonly seconds: number; readonly cpuSeconds?: number }

/**
 * Returns the CPU time of this process and its exited children, which process.cpuUsage does not
 * include. Outside Linux, children are not included.
 */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000 + childrenSeconds()
}

/** Returns fields 16 and 17 of proc_pid_stat(5), converted from hundredths of a second. */
function childrenSeconds(): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The name in parentheses may contain spaces; field 3 follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** Returns the slowest timings, one per line. */
export function toTable(timings: readonly Timing[], count = 40): string[] {
  const slowest = timings.toSorted((a, b) => b.seconds - a.seconds).slice(0, count)
  return slowest.map(({ name, seconds, cpuSeconds }) => {
    const cpu = cpuSeconds === undefined ? '' : `${cpuSeconds.toFixed(1).padStart(8)} s CPU`
    return `${seconds.toFixed(1).padStart(8)} s${cpu}  ${name}`
  })
}
