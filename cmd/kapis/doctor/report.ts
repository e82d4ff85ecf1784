import type { Finding } from './check.ts'

export type Report = { readonly check: string; readonly findings: readonly Finding[] }

export function toText(reports: readonly Report[]): string {
  const lines = reports.flatMap(({ check, findings }) =>
    findings.length === 0
      ? [`ok       ${check}`]
      : findings.flatMap(({ severity, problem, fix }) => [
          `${severity.padEnd(7)}  ${check}: ${problem}`,
          `         fix: ${fix}`,
        ]),
  )
  const all = reports.flatMap(({ findings }) => findings)
  const errors = all.filter(({ severity }) => severity === 'error').length
  return `${lines.join('\n')}\n\n${pluralize(errors, 'error')}, ${pluralize(all.length - errors, 'warning')}\n`
}

function pluralize(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** Returns the report as `{healthy, checks: [{check, findings: [{severity, problem, fix}]}]}`. */
export function toJson(reports: readonly Report[]): string {
  return `${JSON.stringify({ healthy: isHealthy(reports), checks: reports }, null, 2)}\n`
}

export function isHealthy(reports: readonly Report[]): boolean {
  return reports.every(({ findings }) => findings.every(({ severity }) => severity !== 'error'))
}
