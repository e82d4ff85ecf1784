import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { oneFailed, type Totals } from './totals.ts'

/** The Go modules below test/ that have tests: programs that use Kapis through client-go, as controllers do. */
export function goTestFolders(root: string): string[] {
  return globSync('test/**/go.mod', { cwd: root, exclude: path => path.includes('node_modules') })
    .map(file => join(root, dirname(file)))
    .filter(folder => globSync('**/*_test.go', { cwd: folder }).length > 0)
    .sort()
}

/**
 * Built with the flags of hack/controlplane/build.ts, and not vetted: what the orchestrator's programs are made of too is
 * then taken from the compiler's cache. Vet alone would read every package of the Kubernetes client.
 */
const asTheOrchestrator = { flags: ['-trimpath', '-vet=off'], env: { CGO_ENABLED: '0' } } as const

/** Runs the tests of one Go module and prints each as it ends. */
export async function runGoTests(folder: string, env: Readonly<Record<string, string>>): Promise<Totals> {
  const grep = process.env.GREP ? ['-run', process.env.GREP] : []
  console.log(`\n  ${folder} (go test)`)
  const child = spawn('go', ['test', ...asTheOrchestrator.flags, '-json', '-count=1', ...grep, './...'], {
    cwd: folder,
    env: { ...env, ...asTheOrchestrator.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<number>(resolve => {
    child.once('error', error => {
      console.error(`    go test cannot be run: ${error.message}`)
      resolve(1)
    })
    child.once('close', code => resolve(code ?? 1))
  })
  const counts = { pass: 0, fail: 0, skip: 0 }
  const output = new Map<string, string>()
  for await (const line of createInterface({ input: child.stdout })) {
    const { action, test, text } = parseEvent(line)
    if (action === 'output' || action === 'build-output') output.set(test, (output.get(test) ?? '') + text)
    if (test === '' || !(action === 'pass' || action === 'fail' || action === 'skip')) continue
    counts[action] += 1
    console.log(`    ${action === 'pass' ? '✔' : action} ${test}`)
    if (action === 'fail') console.log(output.get(test) ?? '')
  }
  const totals = { passed: counts.pass, failed: counts.fail, skipped: counts.skip }
  if ((await exit) === 0 || counts.fail > 0) return totals
  console.log(output.get('') ?? '')
  return { ...totals, failed: oneFailed.failed }
}

/** One line of `go test -json` (see `go doc test2json`). What is not JSON is taken for output. */
function parseEvent(line: string): { action: string; test: string; text: string } {
  if (!line.startsWith('{')) return { action: 'output', test: '', text: `${line}\n` }
  const { Action = '', Test = '', Output = '' }: Record<string, string> = JSON.parse(line)
  return { action: Action, test: Test, text: Output }
}
