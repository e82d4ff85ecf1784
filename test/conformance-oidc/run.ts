import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository } from '../../hack/controlplane/settings.ts'
import { createClusters } from '../../hack/test/clusters.ts'
import { isSuccess, none, type Outcome, sum, toLine } from '../../hack/test/totals.ts'
import { HttpClient } from '../../pkg/http/client.ts'
import { clientsOf, toConfiguration } from './configuration.ts'
import { readCa, startSuite } from './programs.ts'
import { type Result, Suite } from './suite.ts'

// make conformance-oidc: runs plans of the conformance suite of the OpenID Foundation against a
// separate control plane. CONFORMANCE_SUITE is the checkout of the suite. PLAN=text selects plans
// whose name contains the text.

const loggingOut = { response_type: 'code', client_registration: 'static_client' }
const plans: readonly (readonly [string, object])[] = [
  ['oidcc-config-certification-test-plan', {}],
  [
    'oidcc-basic-certification-test-plan',
    { server_metadata: 'discovery', client_registration: 'static_client' },
  ],
  ['oidcc-rp-initiated-logout-certification-test-plan', loggingOut],
  ['oidcc-backchannel-rp-initiated-logout-certification-test-plan', loggingOut],
  ['oidcc-test-plan', { client_auth_type: 'client_secret_basic', response_mode: 'default', ...loggingOut }],
]

const { CONFORMANCE_SUITE: checkout = '', PLAN: only = '' } = process.env
if (checkout === '') {
  console.error('set CONFORMANCE_SUITE to a checkout of the suite (docs/openid-conformance.md)')
  process.exit(2)
}
const folder = resolve(repository, `${process.env.RUN_DIR || '.run'}-conformance-oidc`)
const programs = await startSuite(checkout, join(folder, 'suite'))
const clusters = createClusters()
// Kapis must trust the suite, since it sends logout tokens to it.
process.env.NODE_EXTRA_CA_CERTS = programs.caFile
const rows: string[] = []
const outcome = await clusters.with(join(folder, 'run'), async env => {
  const suite = new Suite(programs.url, readCa(programs))
  await suite.ready(AbortSignal.any([clusters.signal, programs.ended, AbortSignal.timeout(600_000)]))
  const { issuer } = JSON.parse(await read(env, '.well-known/openid-configuration'))
  const { KAPIS_USER: username = '', KAPIS_PASSWORD: password = '' } = env
  prepare(env)
  const outcomes: Outcome[] = []
  for (const [name, variant] of plans.filter(([plan]) => plan.includes(only))) {
    console.log(`\n${name}`)
    const configuration = toConfiguration({ issuer, username, password }, programs.url, name)
    const plan = await suite.createPlan(name, variant, configuration)
    for (const module of plan.modules) {
      const result = await suite.run(plan.id, module, async () => {
        if (module.testModule === 'oidcc-server-rotate-keys') await rotateKeys(env)
      })
      outcomes.push(toOutcome(result))
      console.log([`${result.result} ${result.name}`, ...result.messages].join('\n    '))
      rows.push(`| ${name} | ${result.name} | ${result.result} | ${result.messages.join('; ')} |`)
    }
  }
  return sum(outcomes)
})
const table = join(folder, 'modules.md')
writeFileSync(table, ['| plan | module | result | log |', '|---|---|---|---|', ...rows, ''].join('\n'))
if (outcome.failures.length > 0) console.error(['failed:', ...outcome.failures].join('\n  '))
console.log(`the table of modules is ${table}`)
console.log(toLine(outcome))
process.exit(isSuccess(outcome) ? 0 : 1)

function toOutcome({ name, result, messages }: Result): Outcome {
  if (result === 'SKIPPED') return { ...none, skipped: 1 }
  if (['PASSED', 'WARNING', 'REVIEW'].includes(result)) return { ...none, passed: 1 }
  return { ...none, failed: 1, failures: [[name, ...messages].join(': ')] }
}

async function read(env: Record<string, string>, path: string): Promise<string> {
  const http = new HttpClient({ ca: readFileSync(env.KAPIS_CA ?? '', 'utf8'), env: {} })
  const { text } = await http.send(new URL(`${env.KAPIS_URL}/oauth/${path}`))
  await http.close()
  return text
}

function kubectl(env: Record<string, string>, args: readonly string[], input = ''): void {
  const { status, stderr } = spawnSync('kubectl', args, { env, input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${stderr}`)
}

/** Creates the clients, and a user with all claims that a User can have. */
function prepare(env: Record<string, string>): void {
  const domain = env.KAPIS_GROUP_DOMAIN
  const items = clientsOf(programs.url).map(document => ({
    ...{ apiVersion: 'v1', kind: 'Secret', type: `config.${domain}/oauthclient` },
    metadata: {
      name: document.name,
      namespace: env.KAPIS_NAMESPACE,
      labels: { [`config.${domain}/type`]: 'oauthclient' },
    },
    stringData: { 'configuration.yaml': JSON.stringify(document) },
  }))
  const spec = JSON.stringify({ spec: { displayName: 'Ada Admin', lang: 'en' } })
  kubectl(env, ['patch', `users.iam.${domain}`, env.KAPIS_USER ?? '', '--type=merge', '-p', spec])
  kubectl(env, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
}

async function rotateKeys(env: Record<string, string>): Promise<void> {
  const annotation = `config.${env.KAPIS_GROUP_DOMAIN}/rotate-keys=`
  const before = await read(env, 'keys')
  kubectl(env, ['annotate', '-n', env.KAPIS_NAMESPACE ?? '', 'secret', 'kapis-signing-keys', annotation])
  for (let tries = 0; tries < 60 && (await read(env, 'keys')) === before; tries++) await sleep(500)
}
