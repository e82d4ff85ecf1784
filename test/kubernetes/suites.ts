import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { parseGinkgoReport, parseKubectlSuite, type Results } from './results.ts'

/** A server to run the tests against: kube-apiserver or Kapis. */
export type Server = { readonly name: string; readonly url: string; readonly token: string }

/** The programs and environment variables of the suites, and the folder for their output. */
export type SuiteEnvironment = {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** The folder with kubectl, kubectl-convert and e2e.test. */
  readonly binFolder: string
}

/** Files that the suite needs in addition to its scripts. */
const sources = [
  'hack',
  'test/cmd',
  'test/fixtures',
  'test/e2e/testing-manifests',
  'third_party/forked/shell2junit',
]

// The suite deletes all namespaces, including the Service of Kapis. Then no namespace could be
// finalized, since the resources of an APIService without a Service are unknown. The replacement
// fails as the suite expects, since the namespace default cannot be deleted.
const deleteAllNamespaces = 'kubectl delete namespace -n my-namespace --all'
const deleteOneNamespace = 'kubectl delete namespace -n my-namespace my-namespace default'

/** Runs the command suite of kubectl. @returns the results of its groups */
export async function runKubectlSuite(
  workplace: SuiteEnvironment,
  server: Server,
  what = '',
): Promise<Results> {
  const { folder } = workplace
  const source = join(folder, 'kubernetes')
  if (!existsSync(source)) copySources(workplace, source)
  // Copied again for each server, since the copy contains the token of the previous server.
  for (const name of readdirSync(join(moduleFolder(), 'test/cmd')).filter(name => name.endsWith('.sh'))) {
    const text = readFileSync(join(moduleFolder(), 'test/cmd', name), 'utf8')
    writeFileSync(
      join(source, 'test/cmd', name),
      text.replaceAll('admin-token', server.token).replaceAll(deleteAllNamespaces, deleteOneNamespace),
    )
  }
  const log = join(folder, `kubectl-${server.name}.log`)
  await run('bash', [join(import.meta.dirname, 'kubectl-suite.sh'), source], {
    log,
    env: {
      ...workplace.env,
      SECURE_API_PORT: new URL(server.url).port,
      TOKEN: server.token,
      KUBE_JUNIT_REPORT_DIR: join(folder, `kubectl-${server.name}`),
      WHAT: what,
    },
  })
  const printed = readFileSync(log, 'utf8')
  const results = parseKubectlSuite(printed)
  if (results.size === 0)
    throw new Error(`the suite ran no group:\n${printed.trimEnd().split('\n').slice(-10).join('\n')}`)
  return results
}

/** The names of end-to-end tests of the API. */
const focus = [
  'Watchers',
  'chunking',
  'Table transformation',
  'Discovery',
  'FieldValidation',
  'ServerSideApply',
  'CustomResource',
  'OpenAPIV3',
  'ResourceQuota',
  'Namespaces',
  'Generated clientset',
  'ValidatingAdmissionPolicy',
  'SubjectReview',
  'ServiceAccounts',
].join('|')
/** Names of excluded tests: they wait for containers, which do not run here, or take minutes. */
const skip = [
  String.raw`\[(Disruptive|Slow|Flaky|Feature:.*)\]`,
  'ConversionWebhook',
  // Needs a conversion webhook.
  'CustomResourceFieldSelectors',
  'Aggregated APIServer',
  'ServiceAccountIssuerDiscovery',
  'should mount',
  'RunAsUser',
  'ResourceClaim',
  'all pods are removed',
  'delete fast',
  'by-node',
].join('|')

/** Runs end-to-end tests of Kubernetes: the selected ones, or those that match `what`. */
export async function runEndToEndTests(
  workplace: SuiteEnvironment,
  server: Server,
  what = '',
): Promise<Results> {
  const { folder } = workplace
  const kubeconfig = join(folder, `${server.name}.kubeconfig`)
  writeFileSync(kubeconfig, toKubeconfig(server), { mode: 0o600 })
  // The tests require an untainted node, and no controller here removes the taint of sample nodes.
  const untaint = ['taint', 'nodes', '--all', 'node.kubernetes.io/not-ready-']
  spawnSync(join(workplace.binFolder, 'kubectl'), untaint, { env: workplace.env })
  const report = join(folder, `e2e-${server.name}.json`)
  await run(
    join(workplace.binFolder, 'e2e.test'),
    [
      `--kubeconfig=${kubeconfig}`,
      '--provider=skeleton',
      '--allowed-not-ready-nodes=-1',
      '--system-daemonsets-startup-timeout=1s',
      '--dump-logs-on-failure=false',
      `--report-dir=${folder}`,
      `--ginkgo.json-report=${report}`,
      '--ginkgo.no-color',
      '--ginkgo.timeout=2h',
      String.raw`--ginkgo.focus=\[sig-(api-machinery|auth)\].*(${what || focus})`,
      `--ginkgo.skip=${skip}`,
    ],
    { log: join(folder, `e2e-${server.name}.log`), env: workplace.env },
  )
  return parseGinkgoReport(readFileSync(report, 'utf8'))
}

function copySources({ binFolder }: SuiteEnvironment, target: string): void {
  for (const name of sources) cpSync(join(moduleFolder(), name), join(target, name), { recursive: true })
  // Files of a Go module cache are read-only and not executable; the suite needs both.
  const { status } = spawnSync('chmod', ['-R', 'u+rwX,+x', target], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`failed to make ${target} writable`)
  mkdirSync(join(target, '_output'))
  symlinkSync(binFolder, join(target, '_output/bin'))
}

let found: string | undefined

/** Returns the sources of k8s.io/kubernetes in the version of the control plane. */
function moduleFolder(): string {
  if (found !== undefined) return found
  const cwd = join(import.meta.dirname, '../../hack/controlplane')
  const go = (...args: readonly string[]) => spawnSync('go', args, { cwd, encoding: 'utf8' })
  go('mod', 'download', 'k8s.io/kubernetes')
  const { stdout = '', stderr = '' } = go('list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes')
  found = stdout.trim()
  if (found === '') throw new Error(`failed to find the sources of k8s.io/kubernetes: ${stderr}`)
  return found
}

function toKubeconfig({ url, token }: Server): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tested', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'administrator', user: { token } }],
    contexts: [{ name: 'tested', context: { cluster: 'tested', user: 'administrator' } }],
    'current-context': 'tested',
  })
}

type RunOptions = { readonly log: string; readonly env: Readonly<Record<string, string>> }

/** Resolves when the program has exited, even with an error: its output has the results. */
async function run(command: string, args: readonly string[], { log, env }: RunOptions): Promise<void> {
  const output = openSync(log, 'w')
  const child = spawn(command, args, { env, stdio: ['ignore', output, output] })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.on('error', reject)
  child.on('close', () => resolve())
  await promise
  closeSync(output)
}
