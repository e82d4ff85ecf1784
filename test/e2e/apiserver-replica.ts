import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { accessToken } from './cluster.ts'
import { eventually } from './http.ts'
import { type CommandResult, run, setting } from './run.ts'

/** A second kapis-apiserver with its own settings. */
export type ApiserverReplica = {
  readonly server: string
  /** Runs kubectl with a token. */
  readonly kubectl: (token: string, ...args: readonly string[]) => Promise<CommandResult>
  /** Runs kubectl with a token on a terminal. */
  readonly terminal: (token: string, ...args: readonly string[]) => Promise<CommandResult>
  readonly stop: () => Promise<void>
}

const program = resolve(import.meta.dirname, '../../cmd/apiserver/main.ts')

export type ReplicaSettings = {
  readonly env: Readonly<Record<string, string>>
  /** Path of the configuration file; that of the running kapis-apiserver by default. */
  readonly config?: string
}

export async function startApiserver({
  env,
  config = join(dirname(setting('KUBECONFIG')), 'kapis.yaml'),
}: ReplicaSettings): Promise<ApiserverReplica> {
  const child = spawn(process.execPath, [program, '--config', config], {
    env: { ...process.env, KAPIS_LISTEN_PORT: '0', ...env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lines: string[] = []
  createInterface(child.stderr).on('line', line => lines.push(line))
  const findServer = () => {
    const line = lines.find(text => text.includes('"listening"'))
    if (line === undefined) throw new Error(`it does not listen:\n${lines.join('\n')}`)
    return `https://127.0.0.1:${JSON.parse(line).port}`
  }
  const toArguments = (token: string, args: readonly string[]) => {
    const target = [
      '--server',
      findServer(),
      '--certificate-authority',
      setting('KAPIS_CA'),
      '--token',
      token,
    ]
    return ['--kubeconfig', '/dev/null', ...target, ...args]
  }
  const token = await accessToken()
  await eventually(async () => {
    const { code, stderr } = await run('kubectl', toArguments(token, ['get', '--raw', '/readyz']))
    if (code !== 0) throw new Error(stderr)
  }, 60_000)
  return {
    server: findServer(),
    kubectl: (token, ...args) => run('kubectl', toArguments(token, args)),
    terminal(token, ...args) {
      const quoted = toArguments(token, args).map(arg => `'${arg}'`)
      return run('script', ['-qec', `kubectl ${quoted.join(' ')}`, '/dev/null'])
    },
    async stop() {
      if (child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}
