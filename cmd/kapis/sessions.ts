import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import {
  connectPlatform,
  itemsOf,
  type Members,
  type Platform,
  platformOptions,
  platformOptionValues,
} from './session/platform-client.ts'
import { serverUsage } from './session/server-address.ts'
import { toTable } from './session/table.ts'
import { playCast } from './sessions/play.ts'
import { actionsOf, assertOneNamespace, namespaceOptions, readAction } from './usage-options.ts'

const actions = { list: '', get: 'a NAME', play: 'a NAME' } as const
const maxPage = 1_000

export const sessions: Command = {
  usage: `list | get NAME | play NAME [OPTION]…

Shows recorded sessions of exec and attach. Requires permission to list or get \`sessionrecordings\` of the logging group.

  list                   list the recorded sessions, the newest first
  get NAME               print a recording as an asciicast
  play NAME              play a recording in the terminal

${serverUsage}  --namespace NAME, -n   only sessions in this namespace
  --all-namespaces, -A   sessions in all namespaces (default)
  --user NAME            list: only sessions of this user
  --pod NAME             list: only sessions in this pod
  --speed NUMBER         play: speed, as a multiple of the original (1)
  --idle-limit SECONDS   play: maximum length of a pause (2)
  --output FORMAT, -o    json: the objects of a list
`,
  examples: `
  kapis sessions list -n shop --user jane
  kapis sessions play 6f9c2a9e-4c55-4a6e-9f5e-1f7a3f7b4d10 -n shop --speed 2
  kapis sessions get 6f9c2a9e-4c55-4a6e-9f5e-1f7a3f7b4d10 > session.cast    # for asciinema and other players
`,
  complete: words => (words.length === 0 ? actionsOf(actions) : []),
  values: platformOptionValues,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...platformOptions,
        ...namespaceOptions,
        user: { type: 'string', default: '' },
        pod: { type: 'string', default: '' },
        speed: { type: 'string', default: '1' },
        'idle-limit': { type: 'string', default: '2' },
      },
    })
    const { action, argument } = readAction(positionals, actions)
    assertOneNamespace(values)
    const pace = {
      speed: readNumber('speed', values.speed),
      idleLimit: readNumber('idle-limit', values['idle-limit']),
    }
    const platform = await connectPlatform(values, io)
    const domain = await platform.groupDomain()
    const within = values.namespace === '' ? '' : `/namespaces/${encodeURIComponent(values.namespace)}`
    const path = `/kapis/logging.${domain}/v1alpha2${within}/sessionrecordings`
    if (action === 'list') {
      const items = await listAll(platform, path, { user: values.user, pod: values.pod })
      platform.show(items, () => io.out(toTable([head, ...items.map(toRow)])))
      return 0
    }
    const headers = { accept: 'application/x-asciicast, application/json' }
    const text = await platform.text('read the recording', `${path}/${encodeURIComponent(argument)}`, {
      headers,
    })
    if (action === 'get') io.out(text)
    else await playCast(text, pace, io)
    return 0
  },
}

async function listAll(
  platform: Platform,
  path: string,
  filters: Readonly<Record<string, string>>,
): Promise<readonly Members[]> {
  const items: Members[] = []
  let next = ''
  do {
    const parameters = Object.entries({ ...filters, continue: next }).filter(([, value]) => value !== '')
    const query = new URLSearchParams([['limit', String(maxPage)], ...parameters])
    const list = await platform.call('list the recordings', `${path}?${query}`)
    items.push(...itemsOf(list.items))
    next = String(Object(list.metadata).continue ?? '')
  } while (next !== '')
  return items
}

const head = ['NAME', 'NAMESPACE', 'POD', 'USER', 'COMMAND', 'STARTED', 'SECONDS', 'POLICY']

function toRow(item: Members): readonly string[] {
  const [metadata, spec, status] = [Object(item.metadata), Object(item.spec), Object(item.status)]
  const ms = Date.parse(status.endTimestamp) - Date.parse(metadata.creationTimestamp)
  const user = spec.impersonator ? `${spec.user} (by ${spec.impersonator})` : spec.user
  const command =
    Array.isArray(spec.command) && spec.command.length > 0 ? spec.command.join(' ') : spec.subresource
  const cells = [metadata.name, metadata.namespace, spec.pod, user, command, metadata.creationTimestamp]
  return [...cells, Number.isNaN(ms) ? '' : Math.round(ms / 1_000), spec.policy].map(cell =>
    String(cell ?? ''),
  )
}

/** @throws UsageError */
function readNumber(name: string, text: string): number {
  const value = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0
  if (value > 0) return value
  throw new UsageError(`invalid --${name} ${JSON.stringify(text)}: expected a number greater than 0`)
}
