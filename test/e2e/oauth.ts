import { createPasswordHasher } from '../../pkg/iam/passwords/password.ts'
import { type HttpResponse, kubectlOutput, sendToKapis } from './cluster.ts'
import { output, setting } from './run.ts'

export type Tokens = { readonly access_token: string; readonly refresh_token: string }
export type Login = { readonly username: string; readonly password: string; readonly scope?: string }

/** The client credentials in a form. */
export const credentials = {
  client_id: setting('KAPIS_CLIENT_ID'),
  client_secret: setting('KAPIS_CLIENT_SECRET'),
}

export const iamVersion = `iam.${setting('KAPIS_GROUP_DOMAIN')}/v1alpha2`

export function form(
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  return sendToKapis(path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: String(new URLSearchParams(fields)),
  })
}

export function token(fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) {
  return form('/oauth/token', { ...credentials, ...fields }, headers)
}

export function refresh(refreshToken: string, headers?: Readonly<Record<string, string>>) {
  return token({ grant_type: 'refresh_token', refresh_token: refreshToken }, headers)
}

/** Logs in, and retries for a user that kapis-oauth may not have received yet. */
export async function loginAs(login: Login): Promise<Tokens> {
  const deadline = Date.now() + 3_000
  for (;;) {
    const response = await token({ grant_type: 'password', ...login })
    if (response.code === 200) return JSON.parse(response.body)
    if (Date.now() > deadline) throw new Error(`cannot log in: ${response.code} ${response.body}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

export function bearer(accessToken: string, path: string): Promise<HttpResponse> {
  return sendToKapis(path, { headers: { authorization: `Bearer ${accessToken}` } })
}

/** Returns code and body of a response, for a comparison of the whole. */
export function parseResponse({
  code,
  body,
}: Pick<HttpResponse, 'code' | 'body'>): readonly [number, unknown] {
  return [code, body === '' ? '' : JSON.parse(body)]
}

/** Returns the claims of a token without verifying it. */
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'))
}

/** Creates a user, or changes the password of an existing user. */
export async function createUser({ username, password }: Login, spec: object = {}): Promise<void> {
  const hasher = await createPasswordHasher()
  const user = {
    apiVersion: iamVersion,
    kind: 'User',
    metadata: { name: username },
    spec: { email: `${username}@e2e.test`, password: await hasher.hash(password), ...spec },
  }
  await output('kubectl', ['apply', '-f', '-'], { stdin: JSON.stringify(user) })
}

export function patchUser(name: string, patch: object, ...args: readonly string[]): Promise<string> {
  return kubectlOutput('patch', users, name, '--type=merge', '-p', JSON.stringify(patch), ...args)
}

export function uidOfUser(name: string): Promise<string> {
  return kubectlOutput('get', users, name, '-o', 'jsonpath={.metadata.uid}')
}

export async function removeUser(name: string): Promise<void> {
  await kubectlOutput('delete', users, name, '--ignore-not-found')
}

const users = `users.iam.${setting('KAPIS_GROUP_DOMAIN')}`
