import { parseArgs } from 'node:util'
import { type Command, type Io, UsageError } from '../command.ts'
import { clusterOptions, connectCluster } from '../find-kubeconfig.ts'
import { toTable } from '../session/table.ts'
import { toConfiguration } from './configuration.ts'
import { readSource } from './kubesphere-configuration.ts'
import { list } from './list-pages.ts'
import { findUnmigrated } from './unmigrated-kinds.ts'
import { createUsers, planUsers, type Step } from './users.ts'

type Options = {
  readonly groupDomain: string
  readonly from: string
  readonly namespace: string
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly isWritten: boolean
}

const dryRuns: readonly string[] = ['client', 'none']

export const migrate: Command = {
  usage: `config FILE | providers FILE | users [OPTION]…

Migrates from KubeSphere 3.4 to Kapis. docs/migration.md describes all steps.

  config FILE            print the configuration of Kapis for a kubesphere.yaml, or for the ConfigMap or Secret that
                         contains it (- for standard input); keys that cannot be translated are listed with the reason
  providers FILE         print a Secret for each identity provider in that file
  users                  list the users that would be created, from the users of KubeSphere in the same cluster;
                         --dry-run=none creates them. Existing users are not changed. With the group domain of KubeSphere,
                         report what Kapis does not take over

The output of config and providers contains passwords.

  --dry-run MODE         client: only list the users; none: create them (client)
  --kubeconfig FILE      credentials to use (KUBECONFIG, ~/.kube/config)
  --context NAME         context of the kubeconfig (the current one)
  --group-domain DOMAIN  domain of the API groups of Kapis (kapis.io)
  --from DOMAIN          domain of the API groups of KubeSphere (kubesphere.io)
  --namespace NAME, -n   namespace of Kapis (kapis-system)
`,
  examples: `
  kubectl -n kubesphere-system get cm kubesphere-config -o yaml | kapis migrate config - > kapis.yaml
  kapis migrate providers kubesphere.yaml | kubectl apply -f -
  kapis migrate users                                # list the users only
  kapis migrate users --dry-run=none
`,
  values: { '--dry-run': () => dryRuns },
  complete: words => (words.length === 0 ? ['config', 'providers', 'users'] : undefined),
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'dry-run': { type: 'string', default: 'client' },
        ...clusterOptions,
        'group-domain': { type: 'string', default: 'kapis.io' },
        from: { type: 'string', default: 'kubesphere.io' },
        namespace: { type: 'string', short: 'n', default: 'kapis-system' },
      },
    })
    if (!dryRuns.includes(values['dry-run']))
      throw new UsageError(
        `invalid --dry-run ${JSON.stringify(values['dry-run'])}; supported: ${dryRuns.join(', ')}`,
      )
    const options: Options = {
      groupDomain: values['group-domain'],
      from: values.from,
      namespace: values.namespace,
      kubeconfig: values.kubeconfig,
      context: values.context,
      isWritten: values['dry-run'] === 'none',
    }
    const [what = '', file = '', ...more] = positionals
    if ((what === 'config' || what === 'providers') && file !== '' && more.length === 0)
      return print(what, file, options, io)
    if (what === 'users' && file === '') return users(options, io)
    throw new UsageError('expected config FILE, providers FILE or users')
  },
}

function print(what: 'config' | 'providers', file: string, options: Options, io: Io): number {
  const { configuration, repeated } = readSource(file)
  const { notes, ...texts } = toConfiguration(configuration, options)
  io.out(what === 'config' ? texts.file : texts.providers)
  const message = 'is given more than once; the last one is used, as in KubeSphere'
  const all = [...repeated.map(path => ({ path, message })), ...notes]
  const reported = all.filter(({ path }) => what === 'config' || path.includes('.identityProviders'))
  for (const { path, message } of reported) io.err(`${path}: ${message}\n`)
  return 0
}

async function users(options: Options, io: Io): Promise<number> {
  const { from, groupDomain: to } = options
  const isInPlace = from === to
  if (isInPlace && options.isWritten)
    throw new UsageError(`--dry-run=none: Kapis with the group domain ${to} has these users already`)
  const client = connectCluster(options, io)
  try {
    const plan = await planUsers(client, { from, to })
    const steps = options.isWritten ? await createUsers(client, plan, to) : plan
    io.out(toTable([['NAME', 'ACTION', 'REMARKS'], ...steps.map(toRow(options.isWritten))]))
    for (const line of await findUnmigrated((path, isBad) => list(client, path, isBad), { from, to }))
      io.err(`${line}\n`)
    if (isInPlace) io.err('nothing was written: these are the users of Kapis already\n')
    else if (!options.isWritten) io.err('nothing was written: --dry-run=none creates the users\n')
    return steps.some(({ action }) => action === 'refused') ? 1 : 0
  } finally {
    client.close()
  }
}

function toRow(isWritten: boolean) {
  return ({ name, action, remarks }: Step): readonly string[] => [
    name,
    action === 'create' && isWritten ? 'created' : action,
    remarks.join('; '),
  ]
}
