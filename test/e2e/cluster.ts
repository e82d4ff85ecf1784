import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { type CommandResult, output, run, scratch, setting } from './run.ts'

export const group = `resources.${process.env.KAPIS_GROUP_DOMAIN ?? 'kapis.io'}`
export const version = 'v1alpha3'
/** Resource name with group, as users of kubectl type it. */
export const nodes = `nodes.${group}`
export const collectionPath = `/apis/${group}/${version}/nodes`

/** Runs kubectl as cluster administrator. */
export function kubectl(...args: readonly string[]): Promise<CommandResult> {
  return run('kubectl', args)
}

/** Returns the output of kubectl as cluster administrator; fails if kubectl fails. */
export function kubectlOutput(...args: readonly string[]): Promise<string> {
  return output('kubectl', args)
}

export async function kubectlJson(...args: readonly string[]): Promise<unknown> {
  return JSON.parse(await kubectlOutput(...args, '-o', 'json'))
}

export async function nodeNames(): Promise<readonly string[]> {
  const names = await kubectlOutput('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')
  return names.split(' ')
}

/** Returns a name that no other test run has used. */
export function uniqueName(what: string): string {
  return `kapis-e2e-${what}-${randomBytes(5).toString('hex')}`
}

/** Creates a namespace with service accounts; the caller deletes it. */
export async function makeNamespace(name: string, serviceAccounts: readonly string[]): Promise<void> {
  await kubectlOutput('create', 'namespace', name)
  for (const account of serviceAccounts) {
    // The controller manager may create `default` at the same moment.
    const { code, stderr } = await kubectl('-n', name, 'create', 'serviceaccount', account)
    if (code !== 0 && !stderr.includes('already exists')) throw new Error(stderr)
  }
}

export async function tokenOf(namespace: string, serviceAccount: string): Promise<string> {
  return (await kubectlOutput('-n', namespace, 'create', 'token', serviceAccount)).trim()
}

/**
 * Returns the kubectl arguments that authenticate with only a token. The kubeconfig of the
 * administrator cannot be used, since its client certificate takes precedence over a token.
 */
export async function withToken(token: string): Promise<readonly string[]> {
  return [
    '--kubeconfig',
    '/dev/null',
    '--server',
    setting('KUBE_URL'),
    '--certificate-authority',
    await kubeCa(),
    '--token',
    token,
  ]
}

let caFile: Promise<string> | undefined

/** Returns the path of a file with the CA of kube-apiserver. */
export function kubeCa(): Promise<string> {
  caFile ??= (async () => {
    const path = '{.clusters[0].cluster.certificate-authority-data}'
    const args = ['config', 'view', '--raw', '--minify', '--flatten', '-o', `jsonpath=${path}`]
    const file = join(scratch, 'kube-ca.crt')
    writeFileSync(file, Buffer.from(await kubectlOutput(...args), 'base64'))
    return file
  })()
  return caFile
}

export type HttpResponse = {
  readonly code: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

export type RequestOptions = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The local address to connect from; all of 127.0.0.0/8 are available. */
  readonly localAddress?: string
}

/** Sends one request to kube-apiserver, with a token unless it is ''. */
export async function sendToKube(
  token: string,
  path: string,
  options: RequestOptions = {},
): Promise<HttpResponse> {
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
  const headers = { accept: 'application/json', ...options.headers, ...authorization }
  return send(setting('KUBE_URL'), await kubeCa(), path, { ...options, headers })
}

/** Sends one request to kapis-apiserver. */
export function sendToKapis(path: string, options: RequestOptions = {}): Promise<HttpResponse> {
  return send(setting('KAPIS_URL'), setting('KAPIS_CA'), path, options)
}

/** Returns an access token of the first administrator, by the password grant. */
export async function accessToken(): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'password',
    username: setting('KAPIS_USER'),
    password: setting('KAPIS_PASSWORD'),
    client_id: setting('KAPIS_CLIENT_ID'),
    client_secret: setting('KAPIS_CLIENT_SECRET'),
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await sendToKapis('/oauth/token', { method: 'POST', headers, body: String(form) })
  const { access_token: token } = JSON.parse(response.body)
  if (typeof token !== 'string') throw new Error(`no access token: ${response.code}`)
  return token
}

/**
 * An agent that opens a connection for each request. TLS sessions are resumed, which halves the CPU
 * time of both sides.
 */
export const oneRequestEach = new Agent({ keepAlive: false })

function send(base: string, caPath: string, path: string, asked: RequestOptions) {
  const { method = 'GET', headers = {}, body, localAddress } = asked
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  const how = {
    agent: oneRequestEach,
    timeout: 20_000,
    ...(localAddress === undefined ? {} : { localAddress }),
  }
  const options = { method, headers, ca: readFileSync(caPath), ...how }
  const req = request(new URL(path, base), options, async res => {
    try {
      const text = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, headers: res.headers, body: text })
    } catch (error) {
      reject(error)
    }
  })
  req.on('timeout', () => req.destroy(new Error(`no response from ${base}${path}`)))
  req.on('error', reject)
  req.end(body)
  return promise
}
