import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { ensureBinaries } from './controlplane/binaries/binaries.ts'
import { childEnvironment, repository } from './controlplane/settings.ts'
import { createClusters } from './test/clusters.ts'
import { concatQueues, createQueue, type Queue, runMocha, testFiles } from './test/mocha-process.ts'
import { type Timing, toTable } from './test/timings.ts'
import { aborted, isSuccess, none, type Outcome, sum, toLine } from './test/totals.ts'

// make test: runs the unit tests, then the tests that need a control plane. ONLY=unit or ONLY=e2e
// runs one half, GREP=text selects tests by title. FOLDERS=fuzz only runs test/fuzz; FUZZ_SECONDS,
// FAULTS=long or SOAK_SECONDS select long forms (make fuzz, faults, soak).

const unitPatterns = ['{pkg,cmd,hack}/**/*.test.ts', 'test/kubernetes/*.test.ts']
const filesOf = (folder: string) => testFiles([`test/${folder}/**/*.test.ts`])
const trust = ['fuzz', 'faults', 'soak']
/** These files install Kapis into one cluster, and share it. */
const installations = ['installation', 'manifests']
/** Files of more than half a minute: started last, they would leave the other processes idle. */
const longest = [
  'test/integration/opensearch-store.test.ts',
  'test/e2e/provider-login.test.ts',
  'test/e2e/pages.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/logs-opensearch.test.ts',
  'test/e2e/registration-pages.test.ts',
  'test/e2e/kubelogin.test.ts',
  'test/e2e/request-parsing.test.ts',
  'test/e2e/odd-names.test.ts',
]
const unitTimeoutMs = 60_000
const timeoutMs = 120_000
// Not the folder of `make up`, whose cluster must not be affected.
const runDir = `${process.env.RUN_DIR || '.run'}-test`
// Hundreds of programs start, and would each compile the same code.
process.env.NODE_COMPILE_CACHE ||= join(repository, 'node_modules/.cache/compiled')

const timings: Record<'file' | 'test', Timing[]> = { file: [], test: [] }
const timed = (kind: 'file' | 'test', timing: Timing) => timings[kind].push(timing)

const clusters = createClusters()

const { ONLY: only = '', FOLDERS: folders = '', GREP: grep = '' } = process.env
if (!['', 'unit', 'e2e'].includes(only)) {
  console.error(`ONLY=${only}: must be unit or e2e`)
  process.exit(2)
}
// The first build takes minutes, and runs during the unit tests, which only need one core.
const binaries = only === 'unit' ? undefined : ensureBinaries({ say: console.log, signal: clusters.signal })
binaries?.catch(() => {})
const outcomes: Outcome[] = []
if (only !== 'e2e') outcomes.push(await runUnitTests())
if (binaries !== undefined) {
  const failed = (error: unknown) =>
    aborted(
      `failed to start a control plane for the tests: ${error instanceof Error ? error.message : error}`,
    )
  outcomes.push(await runEndToEnd(binaries).catch(failed))
}
const all = sum(outcomes)
if (process.env.TIMINGS === '1')
  for (const kind of ['file', 'test'] as const)
    console.log([`slowest ${kind}s:`, ...toTable(timings[kind])].join('\n'))
// Repeated at the end of a thousand lines, where readers look first.
if (all.failures.length > 0) console.error(['failed:', ...all.failures].join('\n  '))
console.log(toLine(all))
process.exit(isSuccess(all) ? 0 : 1)

async function runUnitTests(): Promise<Outcome> {
  const queue = createQueue(testFiles(unitPatterns).map(file => [file]))
  const env = childEnvironment()
  const runs = ['unit-1', 'unit-2'].map(name =>
    runMocha(queue, { name, timeoutMs: unitTimeoutMs, env, timed }),
  )
  return sum(await Promise.all(runs))
}

async function runEndToEnd(binaries: ReturnType<typeof ensureBinaries>): Promise<Outcome> {
  // Tests that need neither a browser nor an LDAP server run even if a tool is missing.
  const tools = spawnSync(join(repository, 'hack/test-tools.sh'), { stdio: 'inherit' })
  const missing = tools.status === 0 ? none : aborted('some tools that the tests use are missing')
  if (folders !== '') return sum([missing, await runFolders(folders.split(','))])
  // One control plane is enough for a few selected tests.
  if (grep !== '') return sum([missing, await runFolders(['e2e', 'integration', ...trust, ...installations])])

  // Installed before the test processes start, whose timeout is too short for it.
  const { kubectl } = await binaries
  const PATH = [dirname(kubectl), process.env.PATH].join(delimiter)
  // Tests wait more than they compute, so five processes keep two cores busy. Each control plane
  // runs one file at a time.
  const others = (folder: string) => filesOf(folder).filter(file => !longest.includes(file))
  // These files need no control plane: processes run them when other files are finished.
  const last = createQueue(others('integration').map(file => [file]))
  const queue = concatQueues(createQueue([...longest, ...others('e2e')].map(file => [file])), last)
  const runs = await Promise.all([
    runOnPlane('e2e-1', queue),
    runOnPlane('e2e-2', queue),
    runOnPlane('e2e-3', queue),
    runOnPlane('trust', concatQueues(createQueue(jobsOf(trust)), queue)),
    runMocha(concatQueues(createQueue(jobsOf(installations)), last), {
      name: 'installation',
      timeoutMs,
      env: { ...childEnvironment(), PATH, RUN_DIR: `${runDir}-installation` },
      timed,
    }),
  ])
  return sum([missing, ...runs])
}

function runFolders(names: readonly string[]): Promise<Outcome> {
  return clusters.with(runDir, env =>
    runMocha(createQueue(jobsOf(names)), { name: names[0] ?? '', timeoutMs, env, timed }),
  )
}

function runOnPlane(name: string, queue: Queue): Promise<Outcome> {
  return clusters.with(`${runDir}-${name}`, env => runMocha(queue, { name, timeoutMs, env, timed }))
}

/** Returns one job per file, except that files with a shared cluster are one job. */
function jobsOf(names: readonly string[]) {
  const apart = names.filter(name => !installations.includes(name))
  const together = names.filter(name => installations.includes(name))
  return [...apart.flatMap(filesOf).map(file => [file]), together.flatMap(filesOf)]
}
