import { readRegularFile } from '../../../pkg/files/read-regular-file.ts'
import { assertCertificates } from '../../../pkg/http/ca-certificates.ts'
import { isLoopback } from '../../../pkg/http/proxy-environment.ts'
import { type Io, UsageError } from '../command.ts'
import { assertNotEmpty } from '../usage-options.ts'
import { type LoginKey, listLogins, readCurrent, readLogin, type StoredLogin } from './login-store.ts'
import { type Server, serverOptions } from './server-address.ts'

/** Options that select the server and the login, in addition to environment variables. */
export type ServerValues = {
  readonly server?: string | undefined
  readonly 'certificate-authority'?: string | undefined
  readonly context?: string | undefined
}

/** The server and login that a command uses. */
export type Target = {
  readonly server: Server
  readonly login: StoredLogin | undefined
  /** Name of the requested login, which may not exist. */
  readonly name: string | undefined
}

/**
 * Returns the server and login that options, environment and stored logins select.
 *
 * @param isExact whether to reject the current login if the server has several: a kubectl context
 * without a login name must not act as another user
 * @throws UsageError
 */
export function findTarget(values: ServerValues, io: Io, isExact = false): Target {
  const { context } = values
  assertNotEmpty(values, Object.keys(serverOptions))
  const named = values.server ?? (values.context === undefined ? io.env.KAPIS_URL : undefined)
  const url = named ? parseServer(named, values.server === undefined ? 'KAPIS_URL' : '--server') : undefined
  // Files of other logins must not affect a kubectl context, which names its login.
  const exact = url && context ? readLogin(io.env, { url, name: context }) : undefined
  const logins = exact?.ca ? [exact] : listLogins(io)
  const matching = logins.filter(
    login => (url ?? login.url) === login.url && (values.context ?? login.name) === login.name,
  )
  const login =
    matching.length > 1 ? choose(matching, isExact ? undefined : readCurrent(io.env), url) : matching[0]
  const at = url ?? login?.url
  if (at === undefined) throw new UsageError(notFound(values.context, logins))
  const found = { url: at, ca: readCa(values, io, at) ?? rememberedCa(logins, at, login) }
  return { server: found, login, name: login?.name ?? context }
}

/** Returns the server to log in at: `--server`, otherwise that of the context or current login. */
export function findServer(values: ServerValues, io: Io): Server {
  assertNotEmpty(values, Object.keys(serverOptions))
  const logins = listLogins(io)
  const sameName = logins.filter(({ name }) => name === values.context)
  const named = values.server ?? (io.env.KAPIS_URL || undefined)
  const known = () => (sameName.length === 1 ? sameName[0]?.url : readCurrent(io.env)?.url)
  const url =
    named === undefined ? known() : parseServer(named, values.server === undefined ? 'KAPIS_URL' : '--server')
  if (url === undefined) throw new UsageError('no server: set --server or KAPIS_URL')
  return { url, ca: readCa(values, io, url) ?? rememberedCa(logins, url) }
}

/**
 * Returns the token of KAPIS_TOKEN. If KAPIS_URL is set, the token is only for that server,
 * otherwise for any.
 *
 * @throws UsageError for a text that is not a valid bearer token (RFC 6750 section 2.1)
 */
export function tokenFromEnvironment({ env }: Io, url?: string): string | undefined {
  if (!env.KAPIS_TOKEN || !isForServer(env.KAPIS_URL, url)) return undefined
  if (!/^[\w.~+/-]+=*$/.test(env.KAPIS_TOKEN))
    throw new UsageError('invalid KAPIS_TOKEN: expected an access token, without blanks or line breaks')
  return env.KAPIS_TOKEN
}

/** @returns the origin of the server @throws UsageError */
export function parseServer(text: string, option: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`invalid ${option} ${JSON.stringify(text)}: expected https://host[:port]`)
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`invalid ${option}: a URL with a user name or password is not supported`)
  // Without TLS, others on the network could read passwords and tokens.
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new UsageError(
      `invalid ${option} ${JSON.stringify(text)}: expected https (http is only supported for localhost)`,
    )
  return url.origin
}

function choose(
  matching: readonly StoredLogin[],
  current: LoginKey | undefined,
  url: string | undefined,
): StoredLogin {
  const login = matching.find(each => each.url === current?.url && each.name === current.name)
  if (login !== undefined) return login
  const [first] = matching
  if (url === undefined && first !== undefined && matching.every(({ name }) => name === first.name))
    throw new UsageError(
      `${matching.length} servers have a login ${JSON.stringify(first.name)}; choose one with --server (${matching.map(each => each.url).join(', ')})`,
    )
  const names = matching.map(({ name }) => name).join(', ')
  throw new UsageError(
    `there are several logins${url === undefined ? '' : ` at ${url}`}: choose one with --context (${names})`,
  )
}

function rememberedCa(logins: readonly StoredLogin[], url: string, login?: StoredLogin): string {
  return login?.ca || (logins.find(each => each.url === url && each.ca !== '')?.ca ?? '')
}

function notFound(context: string | undefined, logins: readonly StoredLogin[]): string {
  if (logins.length === 0) return 'not logged in: run `kapis login --server URL`'
  const names = [...new Set(logins.map(({ name }) => name))].join(', ')
  return `unknown login ${JSON.stringify(context)}; stored logins: ${names}`
}

/** Returns the CAs of --certificate-authority or KAPIS_CA. If KAPIS_URL is set, KAPIS_CA is only for that server. */
function readCa(values: ServerValues, { env }: Io, url: string): string | undefined {
  const file = values['certificate-authority']
  if (file) return readCertificates(file, '--certificate-authority')
  if (env.KAPIS_CA && isForServer(env.KAPIS_URL, url)) return readCertificates(env.KAPIS_CA, 'KAPIS_CA')
  return undefined
}

/** Returns the content of a file with PEM certificates. @throws UsageError */
export function readCertificates(file: string, option: string): string {
  try {
    const pem = readRegularFile(file).toString('utf8')
    assertCertificates(pem)
    return pem
  } catch (error) {
    throw new UsageError(`invalid ${option} ${file}: ${error instanceof Error ? error.message : error}`)
  }
}

function isForServer(owner: string | undefined, url: string | undefined): boolean {
  if (!owner || url === undefined || !URL.canParse(owner)) return true
  return new URL(owner).origin === url
}
