import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSupervisor } from './controlplane/front.ts'
import { createRecords } from './controlplane/records.ts'
import { childEnvironment, loadSettings, repository } from './controlplane/settings.ts'
import { findSupervisor } from './controlplane/stop.ts'
import { goTestFolders, runGoTests } from './test/go.ts'
import { isSuccess, isTotals, none, oneFailed, sum, type Totals, toLine } from './test/totals.ts'

// make test: the tests beside the code, then those that need a control plane, against one of their own.
// ONLY=unit or ONLY=e2e runs one half, GREP=text the tests whose title matches. FOLDERS=fuzz runs those of test/fuzz alone, in
// their long form when FUZZ_SECONDS, FAULTS=long or SOAK_SECONDS say so (make fuzz, faults, soak).

const unitPatterns = ['pkg/**/*.test.ts', 'cmd/**/*.test.ts', 'hack/**/*.test.ts']
const folders = (process.env.FOLDERS || 'e2e,fuzz,faults,soak').split(',')
const e2ePatterns = folders.map(folder => `test/${folder}/**/*.test.ts`)
const integrationPatterns = process.env.FOLDERS ? [] : ['test/integration/**/*.test.ts']
const unitTimeoutMs = 60_000
const e2eTimeoutMs = 120_000

let stop: () => Promise<void> = async () => undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    await stop()
    process.exit(130)
  })
}

const only = process.env.ONLY
if (only !== undefined && only !== '' && only !== 'unit' && only !== 'e2e') {
  console.error(`ONLY=${only}: must be unit or e2e`)
  process.exit(2)
}
const totals: Totals[] = []
if (only !== 'e2e') totals.push(await runMocha(unitPatterns, unitTimeoutMs, childEnvironment()))
if (only !== 'unit') totals.push(await runEndToEnd())
const all = sum(totals)
console.log(toLine(all))
process.exit(isSuccess(all) ? 0 : 1)

async function runEndToEnd(): Promise<Totals> {
  const goFolders = process.env.FOLDERS ? [] : goTestFolders(repository)
  // Beside the folder of `make up`, so that one's own cluster and its state are left alone.
  const settings = loadSettings({ ...process.env, RUN_DIR: `${process.env.RUN_DIR || '.run'}-test` })
  if (findSupervisor(settings) !== undefined) {
    console.error(`other tests are running in ${settings.runDir}; choose another RUN_DIR`)
    return oneFailed
  }
  // What needs no browser and no directory is tested all the same.
  const tools = spawnSync(join(repository, 'hack/test-tools.sh'), { stdio: 'inherit' })
  const missing = tools.status === 0 ? [] : [oneFailed]
  const supervisor = await startSupervisor(settings, ['--attached'])
  stop = supervisor.stop
  try {
    await supervisor.ready
    const env = {
      ...childEnvironment(),
      ...createRecords(settings.runDir).readEnv(),
      RUN_DIR: settings.runDir,
    }
    // Both mostly wait, and the second has a control plane of its own: side by side they take half of the time.
    const apart = runMocha(integrationPatterns, e2eTimeoutMs, env, { isHeld: true })
    const results = [...missing, await runMocha(e2ePatterns, e2eTimeoutMs, env)]
    for (const folder of goFolders) results.push(await runGoTests(folder, env))
    console.log('waiting for the tests that have a control plane of their own')
    return sum([...results, await apart])
  } catch (error) {
    console.error(`the control plane for the tests failed: ${error instanceof Error ? error.message : error}`)
    return oneFailed
  } finally {
    await supervisor.stop()
  }
}

/**
 * A process of its own, so that what breaks it (a bad import, an endless loop's memory) is one more failed test.
 *
 * @param isHeld whether what it prints is kept until it has ended, since something else is printing
 */
function runMocha(
  patterns: readonly string[],
  timeoutMs: number,
  env: Record<string, string>,
  { isHeld }: { readonly isHeld: boolean } = { isHeld: false },
): Promise<Totals> {
  if (globSync(patterns, { cwd: repository }).length === 0) return Promise.resolve(none)
  const grep = process.env.GREP
  const child = spawn(
    process.execPath,
    [join(repository, 'hack/test/mocha.ts'), String(timeoutMs), ...patterns],
    {
      cwd: repository,
      env: { ...env, ...(grep ? { GREP: grep } : {}) },
      stdio: ['ignore', isHeld ? 'pipe' : 'inherit', isHeld ? 'pipe' : 'inherit', 'ipc'],
    },
  )
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => printed.push(chunk))
  const { promise, resolve } = Promise.withResolvers<Totals>()
  let reported: Totals | undefined
  child.on('message', message => {
    if (isTotals(message)) reported = message
  })
  child.on('exit', async (code, signal) => {
    // What it left in the pipe; but a process that it left behind may keep the pipe open for ever.
    if (isHeld) await Promise.race([once(child, 'close'), sleep(2_000)])
    process.stdout.write(Buffer.concat(printed))
    if (reported === undefined) console.error(`the tests broke off (${signal ?? `exit code ${code}`})`)
    resolve(reported ?? oneFailed)
  })
  return promise
}
