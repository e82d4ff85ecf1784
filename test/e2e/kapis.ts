import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from './http.ts'
import { type CommandResult, run, scratch, setting } from './run.ts'

type KapisOptions = {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

type BackgroundCommand = {
  /** Resolves with the first match in the output on standard error. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<Omit<CommandResult, 'stdout'>>
  /** Interrupts the process, like Ctrl-C. */
  readonly interrupt: () => void
}

/** The command line of one user, with its own home folder and kubeconfig. */
export type KapisUser = {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly kubeconfig: string
  readonly kapis: (args: readonly string[], options?: KapisOptions) => Promise<CommandResult>
  /** Starts a command as a process whose output can be awaited. */
  readonly begin: (args: readonly string[]) => BackgroundCommand
  /** Runs kubectl with the kubeconfig that `kapis login` wrote. */
  readonly kubectl: (...args: readonly string[]) => Promise<CommandResult>
  /** Returns the path of the only login file. */
  readonly loginFile: () => string
}

const program = join(import.meta.dirname, '../../cmd/kapis/main.ts')

export function createPerson(name: string): KapisUser {
  const home = mkdtempSync(join(scratch, `${name}-`))
  const kubeconfig = join(home, 'kubeconfig')
  const env = {
    KAPIS_HOME: home,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(home, 'cache'),
    KAPIS_CLIENT_ID: '',
    KAPIS_CLIENT_SECRET: '',
    KAPIS_CA: setting('KAPIS_CA'),
    KAPIS_URL: setting('KAPIS_URL'),
    BROWSER: 'true',
  }
  return {
    home,
    env,
    kubeconfig,
    kapis: (args, options = {}) =>
      run(process.execPath, [program, ...args], { ...options, env: { ...env, ...options.env } }),
    begin: args => begin(args, env),
    kubectl: (...args) => run('kubectl', args, { env }),
    loginFile() {
      const folder = join(home, 'logins')
      const [file, ...more] = readdirSync(folder).filter(each => each.endsWith('.json'))
      if (file === undefined || more.length > 0) throw new Error(`expected one login in ${folder}`)
      return join(folder, file)
    },
  }
}

function begin(args: readonly string[], env: Readonly<Record<string, string>>): BackgroundCommand {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 80_000,
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  return {
    async said(pattern) {
      await eventually(async () => {
        if (!pattern.test(stderr)) throw new Error(`expected ${pattern} in the output: ${stderr}`)
      }, 20_000)
      const found = pattern.exec(stderr)
      if (found === null) throw new Error('the output has ended')
      return found
    },
    ended: once(child, 'close').then(([code]) => ({ code, stderr })),
    interrupt: () => void child.kill('SIGINT'),
  }
}
