import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { kubectlOutput, sendToKapis } from '../e2e/cluster.ts'
import { eventually, groupDomain } from '../e2e/http.ts'
import { readProcessUsage } from './process.ts'
import { startTraffic, type TrafficOptions } from './traffic.ts'

export type Fault = {
  readonly name: string
  readonly begin: () => unknown
  readonly end: () => unknown
  readonly holdSeconds: number
  /** Whether Kapis itself fails: aborted connections then count as missing responses. */
  readonly mayCut?: boolean
  /** Returns the process whose memory is measured. */
  readonly pid: () => number
}

// The promise is ten seconds, which `make faults` checks on an idle machine.
const recoversWithinSeconds = process.env.FAULTS === 'long' ? 10 : 30
const maxGrowthMegabytes = 200

/**
 * Applies a fault under traffic and checks: no wrong responses during the fault, full recovery
 * within ten seconds after its end, no loss of acknowledged data, and limited memory growth.
 */
export async function runFault(fault: Fault, options: TrafficOptions): Promise<void> {
  const before = readProcessUsage(fault.pid()).megabytes
  const traffic = startTraffic(options)
  let seconds = Number.NaN
  try {
    await traffic.recovered(performance.now(), 30)
    await fault.begin()
    await sleep(fault.holdSeconds * 1_000)
    await fault.end()
    // Waits longer than the promised time, so that a failure reports the actual time.
    seconds = await traffic.recovered(performance.now(), 40)
  } finally {
    const report = await traffic.stop()
    const after = readProcessUsage(fault.pid()).megabytes
    const rejections = Object.entries(report.refused).map(([code, count]) => `${count} × ${code}`)
    const figures = [`recovered in ${seconds.toFixed(1)} s`, `${report.right} of ${report.asked} answered`]
    const grown = `${before} -> ${after} MB`
    const isCut = (line: string) =>
      fault.mayCut === true && /ECONN|socket hang up|socket disconnected|aborted|EPIPE/.test(line)
    const wrong = report.wrong.filter(line => !isCut(line))
    const failures = `${wrong.length} wrong, ${report.wrong.length - wrong.length} cut`
    note([fault.name, ...figures, rejections.join(', ') || 'none refused', failures, grown].join(' | '))
    expect(wrong.slice(0, 5), 'wrong responses').to.deep.equal([])
    const made = await kubectlOutput(
      '-n',
      options.namespace,
      'get',
      'configmaps',
      '-o',
      'jsonpath={.items[*].metadata.name}',
    )
    const there = new Set(made.split(' '))
    expect(
      report.acknowledged.objects.filter(name => !there.has(name)),
      'writes that were lost',
    ).to.deep.equal([])
    if (options.hasLogs) await eventually(() => hasLines(options, report.acknowledged.lines), 30_000, 500)
    expect(after - before, 'MB more').to.be.below(maxGrowthMegabytes)
    await kubectlOutput('-n', options.namespace, 'delete', 'configmaps', '--all', '--wait=false')
  }
  expect(seconds, 'seconds to recover').to.be.at.most(recoversWithinSeconds)
}

async function hasLines({ url, token, namespace }: TrafficOptions, lines: readonly string[]): Promise<void> {
  const path = `/kapis/tenant.${groupDomain}/v1alpha2/logs?operation=export&namespaces=${namespace}`
  const { code, body } = await sendToKapis(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  expect(code, body).to.equal(200)
  const found = new Set(body.split('\n').map(line => line.trim()))
  expect(
    lines.filter(line => !found.has(line)),
    'log lines that were lost',
  ).to.deep.equal([])
}

function note(line: string): void {
  if (process.env.FAULTS === 'long' || process.env.E2E_FIGURES) console.log(`      ${line}`)
}
