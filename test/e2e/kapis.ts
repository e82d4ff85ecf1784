import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Ran, run, scratch, setting } from './run.ts'

type KapisOptions = {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

/** The command line of one person: with logins and a kubeconfig of their own. */
export type Person = {
  readonly home: string
  readonly kubeconfig: string
  readonly kapis: (args: readonly string[], options?: KapisOptions) => Promise<Ran>
  /** kubectl with the kubeconfig that `kapis login` wrote. */
  readonly kubectl: (...args: readonly string[]) => Promise<Ran>
  /** The file of the one login. */
  readonly loginFile: () => string
}

const program = join(import.meta.dirname, '../../cmd/kapis/main.ts')

export function createPerson(name: string): Person {
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
    kubeconfig,
    kapis: (args, options = {}) =>
      run(process.execPath, [program, ...args], { ...options, env: { ...env, ...options.env } }),
    kubectl: (...args) => run('kubectl', args, { env }),
    loginFile() {
      const folder = join(home, 'logins')
      const [file, ...more] = readdirSync(folder).filter(each => each.endsWith('.json'))
      if (file === undefined || more.length > 0) throw new Error(`not one login in ${folder}`)
      return join(folder, file)
    },
  }
}
