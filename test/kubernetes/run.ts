import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createAdminToken } from '../../hack/controlplane/admin-token.ts'
import { ensureBinaries } from '../../hack/controlplane/binaries/binaries.ts'
import { buildBinary } from '../../hack/controlplane/binaries/build.ts'
import { repository } from '../../hack/controlplane/settings.ts'
import { createClusters } from '../../hack/test/clusters.ts'
import { aborted, isSuccess, none, type Outcome, sum, toLine } from '../../hack/test/totals.ts'
import { countPassed, findDifferences, type Results } from './results.ts'
import { runEndToEndTests, runKubectlSuite } from './suites.ts'

// make test-kubernetes: runs tests of Kubernetes in the version of the control plane, directly at
// kube-apiserver and through Kapis. Different results are failures. ONLY=kubectl or ONLY=e2e
// selects a suite. WHAT selects groups of kubectl ("pod rs"), or specs by a regular expression.

const runDir = resolve(repository, `${process.env.RUN_DIR || '.run'}-kubernetes`)
const { ONLY: only = '', WHAT: what = '' } = process.env
if (!['', 'kubectl', 'e2e'].includes(only)) {
  console.error(`ONLY=${only}: must be kubectl or e2e`)
  process.exit(2)
}
const clusters = createClusters()

const making = { say: console.log, signal: clusters.signal }
const binaries = await ensureBinaries(making)
const folder = join(runDir, 'suites')
rmSync(folder, { recursive: true, force: true })
const bin = join(folder, 'bin')
mkdirSync(bin, { recursive: true })
symlinkSync(binaries.kubectl, join(bin, 'kubectl'))
if (only !== 'e2e') await buildBinary('kubectl-convert', join(bin, 'kubectl-convert'), making)
if (only !== 'kubectl') await buildBinary('e2e.test', join(bin, 'e2e.test'), making)
const outcomes: Outcome[] = []
if (only !== 'e2e') outcomes.push(await compare('kubectl', runKubectlSuite))
if (only !== 'kubectl') outcomes.push(await compare('e2e', runEndToEndTests))
const outcome = sum(outcomes)
console.log(['differences:', ...outcome.failures].join('\n  '))
console.log(`the output of the suites is in ${folder}`)
console.log(toLine(outcome))
process.exit(isSuccess(outcome) ? 0 : 1)

async function compare(suite: 'kubectl' | 'e2e', run: typeof runKubectlSuite): Promise<Outcome> {
  // The kubectl suite expects no nodes except its own, the end-to-end tests a ready node.
  process.env.NODES = suite === 'kubectl' ? '0' : '1'
  process.env.PODS = '0'
  const found: Results[] = []
  for (const name of ['kube-apiserver', 'kapis'] as const) {
    // Each suite gets a separate control plane, since suites leave objects behind.
    const { failures } = await clusters.with(runDir, async env => {
      console.log(`${suite}: running at ${name}`)
      const workplace = { folder, binFolder: bin, env: { ...env, PATH: `${bin}:${env.PATH}` } }
      const url = (name === 'kapis' ? env.KAPIS_URL : env.KUBE_URL) ?? ''
      const results = await run(
        workplace,
        { name, url, token: createAdminToken(join(bin, 'kubectl'), env) },
        what,
      )
      found.push(results)
      console.log(`${suite}: ${countPassed(results)} at ${name}`)
      return none
    })
    if (failures.length > 0) return aborted(`${suite} at ${name}: ${failures.join('; ')}`)
  }
  const [straight = new Map(), kapis = new Map()] = found
  if (straight.size === 0) return aborted(`${suite}: no test was run`)
  const rows = findDifferences(straight, kapis)
  const failures = rows.map(
    row => `${suite}: ${row.test}: ${row.straight} at kube-apiserver, ${row.kapis} at Kapis`,
  )
  return { ...none, passed: straight.size - rows.length, failed: rows.length, failures }
}
