import { parseArgs } from 'node:util'
import { type Command, type Io, UsageError } from '../command.ts'
import { printToken } from '../get-token.ts'
import { applyChanges, checkChanges, type Planner } from '../kubeconfig/apply.ts'
import { fileOf, kubeconfigFiles, loadKubeconfig } from '../kubeconfig/files.ts'
import { planContext } from '../kubeconfig/plan-changes.ts'
import { browserLogin } from '../session/browser-login.ts'
import { deviceLogin } from '../session/device-login.ts'
import { withFileLock } from '../session/file-lock.ts'
import { findServer, parseServer, readCertificates } from '../session/find-login.ts'
import { Connection, parseJson } from '../session/http.ts'
import { type Client, discover, type Issuer } from '../session/issuer.ts'
import { findKapisExecutable } from '../session/kapis-executable.ts'
import {
  defaultContext,
  loginFile,
  loginNames,
  readLogin,
  type StoredLogin,
  storeFolder,
  writeCurrent,
  writeLogin,
} from '../session/login-store.ts'
import { passwordLogin } from '../session/password-login.ts'
import { printable } from '../session/printable.ts'
import type { Server } from '../session/server-address.ts'
import type { Tokens } from '../session/token-response.ts'
import { actionsOf, assertNotEmpty, assertOutput, readAction } from '../usage-options.ts'
import { loginOptions } from './options.ts'
import { list, remove, use } from './stored-logins.ts'

type LoginArguments = ReturnType<typeof parseLoginArgs>['values']
type Values = Omit<LoginArguments, 'output'>

const actions = { list: '', use: 'a NAME', remove: 'a NAME' } as const

export const login: Command = {
  usage: `[OPTION]…
       kapis login list | use NAME | remove NAME

Logs in, stores the login for other commands, and adds a context for kubectl to the kubeconfig. Nothing else in the kubeconfig
changes. Each login has the name of its context, so there can be several, even at the same server.

  list                   list the stored logins
  use NAME               make a login the current one of kapis, and its context the current one of kubectl
  remove NAME            end a login, delete it, and remove its context from the kubeconfig

  --server URL, -s       URL of the platform (KAPIS_URL, otherwise that of the current login)
  --certificate-authority FILE  CA of its certificate (KAPIS_CA, otherwise that of an earlier login at the server, or the system's)
  --context NAME         name of the context and of the login (kapis)
  --device               log in with a code that is entered in a browser on any machine
  --username NAME, -u    log in with a password (prompted for, or read from stdin)
  --no-browser           only print the URL, do not open a browser
  --issuer URL           issuer of the platform, if --server is not its own address (port forwarding)
  --client-id ID         OAuth client (kapis-cli; with --username KAPIS_CLIENT_ID, kapis)
  --client-secret TEXT   its secret, unless it is public (with --username KAPIS_CLIENT_SECRET)
  --kubeconfig FILE      the file to write to (the file of KUBECONFIG that has the context, ~/.kube/config)
  --no-kubeconfig        do not write a kubeconfig
  --overwrite            replace a context of the same name that belongs to another server
  --kube-server URL      let kubectl connect to this kube-apiserver, which must accept the platform's tokens
  --kube-ca FILE         CA of its certificate
  --exec-credential      print the token of the login for kubectl, like \`kapis get-token\`
  --output FORMAT, -o    json; for list
`,
  examples: `
  kapis login --server https://kapis.example.org --certificate-authority ca.crt
  kapis login --device                                            # with a browser on another machine
  kapis login --username alice                                    # with a password
  kapis login --username admin --context admin                    # another user, in a separate context
  kapis login list
  kapis login use kapis
  kapis login remove admin
`,
  complete(words, io) {
    const [action] = words
    if (action === undefined) return actionsOf(actions)
    return words.length === 1 && action !== 'list' ? loginNames(io) : []
  },
  values: { '--context': loginNames, '--output': () => ['json'] },
  async run(args, io) {
    const { values, positionals } = parseLoginArgs(args)
    if (positionals.length > 0) return manage(positionals, values, io)
    if (values['exec-credential']) return printToken(values, io)
    return logIn(values, io)
  },
}

function parseLoginArgs(args: readonly string[]) {
  return parseArgs({ args: [...args], allowPositionals: true, options: loginOptions })
}

async function manage(positionals: readonly string[], values: LoginArguments, io: Io): Promise<number> {
  const { action, argument } = readAction(positionals, actions)
  assertOutput(values.output)
  if (action === 'list') list(values.output, io)
  else if (action === 'use') await use(argument, values, io)
  else await remove(argument, values, io)
  return 0
}

async function logIn({ output: _output, ...values }: LoginArguments, io: Io): Promise<number> {
  const { 'client-secret': _secret, ...named } = values
  assertNotEmpty(named)
  if (values.device && values.username !== undefined)
    throw new UsageError('--device and --username are mutually exclusive')
  const name = values.context ?? defaultContext
  if (/\p{Cc}/u.test(name)) throw new UsageError(`invalid --context ${JSON.stringify(name)}`)
  const server = findServer({ ...values, context: name }, io)
  const cluster = findCluster(values, server)
  const paths = values['no-kubeconfig'] ? [] : kubeconfigFiles(io.env, values.kubeconfig)
  const program = findKapisExecutable(io, process.argv[1] ?? '')
  const planner: Planner = config =>
    planContext(config, {
      name,
      cluster,
      platform: server.url,
      command: [process.execPath, program.file],
      home: storeOverride(io),
      isOverwriting: values.overwrite,
    })
  // Checked before the login, which would be useless if it cannot be stored.
  if (paths.length > 0) {
    await checkChanges(paths, planner, io)
    program.keep()
  }
  const key = { url: server.url, name }
  await withFileLock(loginFile(io.env, key), () => readLogin(io.env, key), { signal: io.signal })

  const issuer = await discover(new Connection(server, io), values.issuer)
  const client = findClient(values, io)
  const tokens = await begin(issuer, client, values, io)
  const username = await nameOf(issuer, tokens)
  await store({ ...server, ...key, ...tokens, issuer: values.issuer ?? '', username }, io)
  io.err(`Logged in at ${server.url}${username === '' ? '' : ` as ${username}`}.\n`)
  if (paths.length === 0) return 0
  await applyChanges(paths, planner, io)
  const file = fileOf(loadKubeconfig(paths), 'contexts', name)?.path
  io.err(`kubectl uses the context ${JSON.stringify(name)} of ${file}.\n`)
  return 0
}

function begin(issuer: Issuer, client: Client, values: Values, io: Io): Promise<Tokens> {
  if (values.device) return deviceLogin(issuer, client, io)
  if (values.username !== undefined) return passwordLogin(issuer, client, values.username, io)
  return browserLogin(issuer, client, io, !values['no-browser'])
}

/**
 * Returns the OAuth client. The password grant requires a confidential, trusted client, which the
 * environment may set. A browser login requires a public client, since only those may choose a
 * loopback port.
 */
function findClient(values: Values, { env }: Io): Client {
  const isPassword = values.username !== undefined
  const id = values['client-id'] ?? ((isPassword && env.KAPIS_CLIENT_ID) || undefined)
  const secret = values['client-secret'] ?? ((isPassword && env.KAPIS_CLIENT_SECRET) || undefined)
  if (!isPassword) return { id: id ?? 'kapis-cli', secret: secret ?? '' }
  return { id: id ?? 'kapis', secret: secret ?? (id === undefined ? 'kapis' : '') }
}

function findCluster(values: Values, platform: Server): Server {
  const url = values['kube-server']
  const ca = values['kube-ca']
  if (url === undefined) {
    if (ca !== undefined) throw new UsageError('--kube-ca needs --kube-server')
    return platform
  }
  parseServer(url, '--kube-server')
  return { url, ca: ca === undefined ? '' : readCertificates(ca, '--kube-ca') }
}

/** Returns the folder of logins if it is not the default, for the credential plugin of kubectl. */
function storeOverride({ env }: Io): string {
  return env.KAPIS_HOME || env.XDG_CONFIG_HOME ? storeFolder(env) : ''
}

/** Returns the user name from the issuer; '' if that fails, since the login works without it. */
async function nameOf(issuer: Issuer, { accessToken }: Tokens): Promise<string> {
  try {
    const { preferred_username: name, sub } = parseJson(await issuer.get('userinfo', accessToken))
    return printable(String(name ?? sub ?? ''))
  } catch {
    return ''
  }
}

/** Stores the login under the lock of the one that it replaces, which kubectl may be refreshing. */
async function store(login: StoredLogin, io: Io): Promise<void> {
  await withFileLock(loginFile(io.env, login), () => {
    const before = readLogin(io.env, login)
    if (before !== undefined && before.username !== '' && before.username !== login.username)
      io.err(`This replaced the login of ${before.username}; use --context NAME to keep both.\n`)
    writeLogin(io.env, login)
    writeCurrent(io.env, login)
  })
}
