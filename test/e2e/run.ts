import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The result of a command. */
export type CommandResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type RunOptions = {
  readonly stdin?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

/** A temporary folder of this test run. */
export const scratch = mkdtempSync(join(tmpdir(), 'kapis-e2e-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

// A separate cache: kubectl caches discovery, and must not use that of another control plane.
const ownEnv = { KUBECACHEDIR: join(scratch, 'kubectl-cache') }

/** Returns a value of .run/env, which `make up` writes and `make test` sources. */
export function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: run make up, then source .run/env (make test does both)`)
  }
  return value
}

/**
 * Runs a command until it ends. Rejects only if it cannot be started, regardless of its exit code.
 */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<CommandResult> {
  const child = launch(command, args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000)
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>()
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  child.on('error', reject)
  child.on('close', code => resolve({ code, stdout, stderr }))
  // The error is ignored: a command that does not read its input may close it.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.stdin ?? '')
  return promise.finally(() => clearTimeout(timer))
}

/** Runs a command that must succeed, and returns its output. */
export async function output(command: string, args: readonly string[], options: RunOptions = {}) {
  const ran = await run(command, args, options)
  if (ran.code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${ran.code}:\n${ran.stderr}`)
  return ran.stdout
}

/** A running command with the lines that it has printed. */
export type RunningCommand = {
  readonly lines: readonly string[]
  /**
   * Returns the first matching line, whether it is already printed or not.
   *
   * @throws Error on a timeout, or if the command has ended
   */
  readonly line: (matches: (line: string) => boolean, timeoutMs?: number) => Promise<string>
  readonly ended: Promise<number | null>
  readonly stop: () => Promise<void>
}

export function follow(command: string, args: readonly string[], options: RunOptions = {}): RunningCommand {
  const child = launch(command, args, options)
  const lines: string[] = []
  const errors: string[] = []
  const waiting = new Set<() => void>()
  const { promise: ended, resolve } = Promise.withResolvers<number | null>()
  let isEnded = false
  const wake = () => {
    for (const check of waiting) check()
  }
  if (child.stdout) {
    createInterface(child.stdout).on('line', line => {
      lines.push(line)
      wake()
    })
  }
  child.stderr?.setEncoding('utf8').on('data', text => errors.push(text))
  child.on('error', error => errors.push(String(error)))
  child.on('close', code => {
    isEnded = true
    resolve(code)
    wake()
  })

  return {
    lines,
    ended,
    line(matches, timeoutMs = 10_000) {
      const found = Promise.withResolvers<string>()
      const fail = (why: string) => {
        found.reject(new Error(`${command}: ${why}; printed:\n${lines.join('\n')}\n${errors.join('')}`))
      }
      const check = () => {
        const line = lines.find(matches)
        if (line !== undefined) found.resolve(line)
        else if (isEnded) fail('ended before the line came')
      }
      const timer = setTimeout(() => fail(`no matching line within ${timeoutMs} ms`), timeoutMs)
      waiting.add(check)
      check()
      return found.promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(check)
      })
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

function launch(command: string, args: readonly string[], options: RunOptions): ChildProcess {
  const env = { ...process.env, ...ownEnv, ...options.env }
  return spawn(command, args, { env, ...(options.cwd === undefined ? {} : { cwd: options.cwd }) })
}
