import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { type Command, type NodeSettings, openSearchCommand } from '../../hack/opensearch/command.ts'

export type OpenSearch = {
  readonly url: string
  readonly pid: () => number
  /** Kills the node with SIGKILL; stored lines are kept. */
  readonly kill: () => Promise<void>
  /** Starts the node again on the same port and data. Resolves when it is ready. */
  readonly start: () => Promise<void>
  /** Stops the node and deletes its data. */
  readonly stop: () => Promise<void>
}

const readyWithinMs = 300_000
// Disables optimized compilation, which would take half of the CPU time of a node that runs for a
// minute or two.
const quickStart = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** Starts a real node for one test file, independent of that of LOG_STORE. */
export function startOpenSearch(): Promise<OpenSearch> {
  return startNode({
    toCommand: where => openSearchCommand(where, () => undefined),
    toUrl: port => `http://127.0.0.1:${port}`,
    isReady: async url => (await fetch(`${url}/_cluster/health`)).ok,
  })
}

export type NodeKind = {
  readonly toCommand: (where: NodeSettings) => Promise<Command>
  readonly toUrl: (port: number) => string
  /** Returns whether the node is ready; may also throw if it is not. */
  readonly isReady: (url: string) => Promise<boolean>
}

export async function startNode({ toCommand, toUrl, isReady }: NodeKind): Promise<OpenSearch> {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-opensearch-'))
  const ports = createPortFinder()
  const port = await ports.any()
  const { command, args } = await toCommand({ folder, port, heapMb: 512 })
  const url = toUrl(port)
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const started = spawn(command, [...quickStart, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = started
    let said = ''
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', chunk => {
        said = `${said}${chunk}`.slice(-4000)
      })
    }
    const deadline = Date.now() + readyWithinMs
    while (!(await isReady(url).catch(() => false))) {
      if (started.exitCode !== null || Date.now() > deadline) {
        await stop()
        throw new Error(`the search engine is not ready:\n${said}`)
      }
      await sleep(200)
    }
  }
  async function kill(): Promise<void> {
    child?.kill('SIGKILL')
    if (child) await waitForExit(child)
  }
  async function stop(): Promise<void> {
    await kill()
    ports.release()
    rmSync(folder, { recursive: true, force: true })
  }
  await start()
  return { url, pid: () => child?.pid ?? 0, kill, start, stop }
}

function waitForExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  return promise
}
