import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { repository } from '../../hack/controlplane/settings.ts'
import { accessToken, sendToKapis } from './cluster.ts'
import { run, scratch } from './run.ts'

type Rule = {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly annotations?: { readonly runbook_url: string }
}

const folder = join(repository, 'manifests/components/monitoring')
const { spec } = parse(readFileSync(join(folder, 'prometheus-rule.yaml'), 'utf8'))
const rules: readonly Rule[] = spec.groups.flatMap((group: { rules: readonly Rule[] }) => group.rules)
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'))
/** The metrics paths by job, as in service-monitor.yaml. */
const jobs = { kapis: '/metrics', 'kapis-oauth': '/metrics/oauth' }
/** Metrics of kube-apiserver, and those that Prometheus itself adds for each target. */
const ofOthers = ['aggregator_unavailable_apiservice', 'up']
/** A metric that exists only with tracing. */
const ofTracing = 'kapis_tracing_spans_total'

describe('monitoring', () => {
  it('fires each alert only in the situation that it describes', async function () {
    this.timeout(120_000)
    writeFileSync(join(scratch, 'rules.yaml'), JSON.stringify(spec))
    cpSync(join(import.meta.dirname, 'monitoring/alerts.yaml'), join(scratch, 'alerts.yaml'))
    const checked = await run('promtool', [
      'check',
      'rules',
      '--lint=all',
      '--lint-fatal',
      join(scratch, 'rules.yaml'),
    ])
    expect(checked.code, checked.stdout + checked.stderr).to.equal(0)
    const tested = await run('promtool', ['test', 'rules', join(scratch, 'alerts.yaml')], {
      timeoutMs: 110_000,
    })
    expect(tested.code, tested.stdout + tested.stderr).to.equal(0)
  })

  it('has a test and a runbook for every alert', () => {
    const tests = readFileSync(join(import.meta.dirname, 'monitoring/alerts.yaml'), 'utf8')
    const headings = [...readFileSync(join(repository, 'docs/runbooks.md'), 'utf8').matchAll(/^## (\w+)$/gm)]
    const { homepage } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
    const alerts = rules.flatMap(({ alert }) => alert ?? [])
    expect(headings.map(([, name]) => name)).to.deep.equal(alerts)
    for (const { alert, annotations } of rules) {
      if (alert === undefined) continue
      const runbook = `${homepage}/blob/main/docs/runbooks.md#${alert.toLowerCase()}`
      expect(annotations?.runbook_url).to.equal(runbook)
      expect(tests).to.match(new RegExp(`alertname: ${alert}\\n +exp_alerts:`))
    }
  })

  it('queries existing metrics only', async () => {
    const token = await accessToken()
    const there = new Map<string, ReadonlySet<string>>()
    for (const [job, path] of Object.entries(jobs)) there.set(job, await metricsAt(path, token))
    const recorded = rules.flatMap(({ record }) => record ?? [])
    const panels: readonly { targets: readonly { expr: string }[] }[] = dashboard.panels
    const expressions = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ]
    expect(expressions.length).to.be.above(25)
    for (const expression of expressions) {
      for (const { name, of } of metricsIn(expression)) {
        if (recorded.includes(name) || ofOthers.includes(name)) continue
        const plain = name.replace(/_(bucket|count|sum)$/, '')
        expect(of, `jobs of ${name} in ${expression}`).to.not.deep.equal([])
        for (const job of of) {
          const names = there.get(job)
          expect(names?.has(name) || names?.has(plain), `${name} of ${job} in ${expression}`).to.equal(true)
        }
      }
    }
  })

  it('scrapes each program as a separate job, with a permitted service account', () => {
    const monitor = parse(readFileSync(join(folder, 'service-monitor.yaml'), 'utf8'))
    type Endpoint = { path: string; relabelings?: readonly { targetLabel: string; replacement: string }[] }
    const endpoints: readonly Endpoint[] = monitor.spec.endpoints
    const collected = endpoints.map(({ path, relabelings = [] }) => [
      relabelings.find(({ targetLabel }) => targetLabel === 'job')?.replacement ?? 'kapis',
      path,
    ])
    expect(Object.fromEntries(collected)).to.deep.equal(jobs)
    expect(collected.length).to.equal(Object.keys(jobs).length)
    const roles = parseAllDocuments(
      readFileSync(join(repository, 'manifests/base/rbac-readers.yaml'), 'utf8'),
    ).map(document => document.toJS())
    const reader = roles.find(({ metadata }) => metadata.name === 'kapis:metrics-reader')
    expect(reader.rules).to.deep.equal([{ nonResourceURLs: Object.values(jobs), verbs: ['get'] }])
  })

  it('documents existing metrics only', async () => {
    const token = await accessToken()
    const there = new Set<string>([...ofOthers, ofTracing])
    for (const path of Object.values(jobs)) for (const name of await metricsAt(path, token)) there.add(name)
    const manual = readFileSync(join(repository, 'docs/operations.md'), 'utf8')
    const [, section = ''] = /^## Metrics\n(.*?)^## /ms.exec(manual) ?? []
    const table = section.split('\n').filter(line => line.startsWith('| `'))
    const named = table.flatMap(line =>
      [...(line.split('|')[1] ?? '').matchAll(/`(\w+)/g)].map(([, name = '']) => name),
    )
    expect(named.length).to.be.above(8)
    expect(named.filter(name => !there.has(name))).to.deep.equal([])
  })
})

async function metricsAt(path: string, token: string): Promise<ReadonlySet<string>> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/plain' }
  const { code, body } = await sendToKapis(path, { headers })
  expect(code, body).to.equal(200)
  return new Set([...body.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name))
}

/**
 * Returns the metric names in an expression, with the jobs of their selectors. Recording rules are
 * recognized by their colons.
 */
function metricsIn(expression: string): readonly { readonly name: string; readonly of: readonly string[] }[] {
  const selected = [...expression.matchAll(/\b([a-z_:][\w:]*)\{([^}]*)\}/g)].map(
    ([, name = '', selector = '']) => ({
      name,
      of: /\bjob=~?"([^"]*)"/.exec(selector)?.[1]?.split('|') ?? [],
    }),
  )
  const recorded = [...expression.matchAll(/\bkapis:[\w:]+/g)].map(([name]) => ({ name, of: [] }))
  return [...selected, ...recorded]
}
