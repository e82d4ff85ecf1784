import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { repository } from '../../hack/controlplane/settings.ts'
import {
  accessToken,
  collectionPath,
  kubectlOutput,
  makeNamespace,
  sendToKapis,
  tokenOf,
  uniqueName,
} from './cluster.ts'
import { eventually } from './http.ts'
import { follow, type RunningCommand, scratch, setting } from './run.ts'

type Endpoint = {
  readonly path: string
  readonly scheme: string
  readonly tlsConfig: { readonly serverName: string }
  readonly relabelings?: readonly { readonly targetLabel: string; readonly replacement: string }[]
  readonly metricRelabelings: readonly { readonly sourceLabels: readonly string[]; readonly regex: string }[]
}
type PrometheusResponse<Data> = { readonly data: Data }
type Rules = {
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[]
  }[]
}

const folder = join(repository, 'manifests/components/monitoring')
const read = (file: string) => parse(readFileSync(join(folder, file), 'utf8'))
const { groups } = read('prometheus-rule.yaml').spec
const panels: readonly { targets?: readonly { expr: string }[] }[] = read('dashboard.json').panels

describe('Prometheus with the permissions and settings of the manifests', function () {
  this.timeout(90_000)
  const name = uniqueName('prometheus')
  const ports = createPortFinder()
  let prometheus: RunningCommand
  let url: string

  before(async () => {
    await makeNamespace(name, ['prometheus'])
    const subject = `--serviceaccount=${name}:prometheus`
    const role = '--clusterrole=kapis:metrics-reader'
    await kubectlOutput('create', 'clusterrolebinding', name, role, subject)
    const token = join(scratch, 'prometheus-token')
    writeFileSync(token, await tokenOf(name, 'prometheus'))
    writeFileSync(join(scratch, 'prometheus-rules.yaml'), JSON.stringify({ groups }))
    writeFileSync(join(scratch, 'prometheus.yaml'), JSON.stringify(configuration(token)))
    const port = await ports.any()
    url = `http://127.0.0.1:${port}`
    prometheus = follow('prometheus', [
      `--config.file=${join(scratch, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(scratch, 'prometheus-data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
  })

  after(async () => {
    await prometheus?.stop()
    ports.release()
    await kubectlOutput('delete', 'clusterrolebinding', name, '--ignore-not-found')
    await kubectlOutput('delete', 'namespace', name, '--wait=false', '--ignore-not-found')
  })

  it('scrapes both programs, evaluates every rule, and has data for every panel', async () => {
    const token = await accessToken()
    const recorded = groups.flatMap((group: { rules: readonly { record?: string }[] }) =>
      group.rules.flatMap(({ record }) => record ?? []),
    )
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect([recorded.length > 8, shown.length > 12]).to.deep.equal([true, true])
    await eventually(async () => {
      // This request increases the counters of requests, credentials and decisions.
      await sendToKapis(collectionPath, { headers: { authorization: `Bearer ${token}` } })
      const up = await send<{ result: readonly { metric: { job: string }; value: [number, string] }[] }>(
        'query?query=up',
      )
      const jobs = up.result.map(({ metric, value }) => `${metric.job} ${value[1]}`).sort()
      expect(jobs).to.deep.equal(['kapis 1', 'kapis-oauth 1', 'kube-apiserver 1'])
      for (const expression of [...recorded, ...shown]) {
        const { result } = await send<{ result: readonly unknown[] }>(
          `query?query=${encodeURIComponent(expression)}`,
        )
        expect(result, expression).to.not.deep.equal([])
      }
    }, 60_000)
    const rules = (await send<Rules>('rules')).groups.flatMap(group => group.rules)
    expect(rules.filter(({ health }) => health !== 'ok')).to.deep.equal([])
  })

  async function send<Data>(query: string): Promise<Data> {
    const response: PrometheusResponse<Data> = JSON.parse(
      await (await fetch(`${url}/api/v1/${query}`)).text(),
    )
    return response.data
  }
})

/**
 * Returns the scrape configuration that prometheus-operator would generate from the ServiceMonitor,
 * for a single Pod and with an interval of two seconds.
 */
function configuration(tokenFile: string): object {
  const endpoints: readonly Endpoint[] = read('service-monitor.yaml').spec.endpoints
  const label = (target_label: string, replacement: string) => ({ target_label, replacement })
  const credentials = { authorization: { credentials_file: tokenFile } }
  const at = (address: string) => [{ targets: [new URL(address).host] }]
  return {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '2s' },
    rule_files: ['prometheus-rules.yaml'],
    scrape_configs: [
      ...endpoints.map(({ path, scheme, tlsConfig, relabelings = [], metricRelabelings }, i) => ({
        ...credentials,
        job_name: `kapis/${i}`,
        metrics_path: path,
        scheme,
        tls_config: { ca_file: setting('KAPIS_CA'), server_name: tlsConfig.serverName },
        static_configs: at(setting('KAPIS_URL')),
        relabel_configs: [
          label('job', 'kapis'),
          label('pod', 'kapis-0'),
          ...relabelings.map(({ targetLabel, replacement }) => label(targetLabel, replacement)),
        ],
        metric_relabel_configs: metricRelabelings.map(({ sourceLabels, regex }) => ({
          source_labels: sourceLabels,
          regex,
          action: 'drop',
        })),
      })),
      {
        ...credentials,
        job_name: 'kube-apiserver',
        scheme: 'https',
        scrape_interval: '5s',
        scrape_timeout: '5s',
        tls_config: { ca_file: setting('KUBE_CA') },
        static_configs: at(setting('KUBE_URL')),
      },
    ],
  }
}
