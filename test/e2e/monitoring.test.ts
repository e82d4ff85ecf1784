import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { repository } from '../../hack/controlplane/settings.ts'
import { accessToken, askKapis } from './cluster.ts'
import { run, scratch } from './run.ts'

type Rule = {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly annotations?: { runbook: string }
}

const folder = join(repository, 'manifests/components/monitoring')
const { spec } = parse(readFileSync(join(folder, 'prometheus-rule.yaml'), 'utf8'))
const rules: readonly Rule[] = spec.groups.flatMap((group: { rules: readonly Rule[] }) => group.rules)
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'))
/** kube-apiserver's, and what Prometheus itself knows of each target. */
const ofOthers = ['aggregator_unavailable_apiservice', 'up']

describe('monitoring', () => {
  it('alerts when it should, and only then', async function () {
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

  it('tests every alert, and tells in a runbook what to do about it', () => {
    const tests = readFileSync(join(import.meta.dirname, 'monitoring/alerts.yaml'), 'utf8')
    const headings = [...readFileSync(join(repository, 'docs/runbooks.md'), 'utf8').matchAll(/^## (\w+)$/gm)]
    const alerts = rules.flatMap(({ alert }) => alert ?? [])
    expect(headings.map(([, name]) => name)).to.deep.equal(alerts)
    for (const { alert, annotations } of rules) {
      if (alert === undefined) continue
      expect(annotations?.runbook).to.equal(`docs/runbooks.md#${alert.toLowerCase()}`)
      expect(tests).to.match(new RegExp(`alertname: ${alert}\\n +exp_alerts:`))
    }
  })

  it('asks for metrics that there are', async () => {
    const token = await accessToken()
    const headers = { authorization: `Bearer ${token}`, accept: 'text/plain' }
    const { code, body } = await askKapis('/metrics', { headers })
    expect(code).to.equal(200)
    const there = new Set([...body.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name))
    const recorded = rules.flatMap(({ record }) => record ?? [])
    const panels: readonly { targets: readonly { expr: string }[] }[] = dashboard.panels
    const expressions = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ]
    expect(expressions.length).to.be.above(25)
    for (const expression of expressions) {
      for (const name of metricsIn(expression)) {
        const plain = name.replace(/_(bucket|count|sum)$/, '')
        const isKnown =
          there.has(name) || there.has(plain) || recorded.includes(name) || ofOthers.includes(name)
        expect(isKnown, `${name} in ${expression}`).to.equal(true)
      }
    }
  })
})

/** Names that are followed by a selector, or that have the colons of a recorded rule. */
function metricsIn(expression: string): readonly string[] {
  const selected = [...expression.matchAll(/\b([a-z_:][\w:]*)\{/g)].map(([, name = '']) => name)
  const recorded = [...expression.matchAll(/\bkapis:[\w:]+/g)].map(([name]) => name)
  return [...selected, ...recorded]
}
