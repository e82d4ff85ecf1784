import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessId } from './process-id.ts'

export type ComponentName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kwok'
  | 'opensearch'
  | 'oauth'
  | 'apiserver'
  | 'log-shipper'

/** How to check whether a process is ready: by a request that must return 200. */
export type Probe =
  | { readonly url: string; readonly caFile?: string }
  | { readonly socket: string; readonly path: string }

/** A program with its command line, for a start or restart. */
export type Component = {
  readonly name: ComponentName
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly log: string
  /** Without a probe, the program is ready when it has started. */
  readonly probe?: Probe
  /** Whether the program was stopped intentionally, so that its exit is not a failure. */
  readonly stopped: boolean
}

/** The order of starting: each program needs earlier ones. */
export const startOrder: readonly ComponentName[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kwok',
  'opensearch',
  'oauth',
  'apiserver',
  'log-shipper',
]

/** The records in a run folder: processes (`pids`), commands (`parts.json`), and `env`. */
export function createProcessRecords(runDir: string) {
  const pidsFile = join(runDir, 'pids')
  const partsFile = join(runDir, 'parts.json')
  const envFile = join(runDir, 'env')

  function pids(): Map<string, ProcessId> {
    const lines = existsSync(pidsFile) ? readFileSync(pidsFile, 'utf8').split('\n') : []
    const entries = lines.flatMap((line): [string, ProcessId][] => {
      const [name, pid, stamp] = line.split(' ')
      return name && pid && stamp ? [[name, { pid: Number(pid), stamp }]] : []
    })
    return new Map(entries)
  }

  return {
    pids,
    setPid(name: string, id: ProcessId): void {
      const all = pids().set(name, id)
      replace(pidsFile, [...all].map(([key, { pid, stamp }]) => `${key} ${pid} ${stamp}\n`).join(''))
    },
    forgetPid(name: string): void {
      const others = [...pids()].filter(([key]) => key !== name)
      replace(pidsFile, others.map(([key, { pid, stamp }]) => `${key} ${pid} ${stamp}\n`).join(''))
    },
    parts(): Component[] {
      return existsSync(partsFile) ? JSON.parse(readFileSync(partsFile, 'utf8')) : []
    },
    setComponent(part: Component): void {
      const others = this.parts().filter(({ name }) => name !== part.name)
      replace(partsFile, `${JSON.stringify([...others, part], null, 2)}\n`)
    },
    /** Returns the value of KAPIS_PIDS for the env file. */
    pidList(): string {
      const all = pids()
      return startOrder.flatMap(name => (all.has(name) ? [`${name}=${all.get(name)?.pid}`] : [])).join(' ')
    },
    writeEnv(variables: Readonly<Record<string, string>>, bin: string): void {
      const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`)
      replace(envFile, `${lines.join('')}export PATH=${shellQuote(bin)}:"$PATH"\n`)
    },
    updateEnvPids(): void {
      if (!existsSync(envFile)) return
      const text = readFileSync(envFile, 'utf8')
      replace(
        envFile,
        text.replace(/^export KAPIS_PIDS=.*$/m, `export KAPIS_PIDS=${shellQuote(this.pidList())}`),
      )
    },
    /** Returns the variables of the env file; undefined if nothing is running. */
    readEnv(): Record<string, string> | undefined {
      if (!existsSync(envFile)) return undefined
      const env: Record<string, string> = {}
      const text = readFileSync(envFile, 'utf8')
      for (const [, name = '', raw = ''] of text.matchAll(/^export (\w+)='((?:[^']|'\\'')*)'/gm)) {
        const value = raw.replaceAll(String.raw`'\''`, "'")
        env[name] = name === 'PATH' ? `${value}:${process.env.PATH}` : value
      }
      return env
    },
  }
}

export type ProcessRecords = ReturnType<typeof createProcessRecords>

/** Replaces a file atomically: readers never see partial content. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function shellQuote(value: string): string {
  return `'${value.replaceAll("'", String.raw`'\''`)}'`
}
