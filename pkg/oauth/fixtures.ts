import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Status, unauthorized } from '../apierrors/status.ts'
import { type ClientConfig, defaultClient, type RegisteredClient } from '../config/sections/client.ts'
import type { AccountLinking } from '../iam/identityprovider/linking/account-linking.ts'
import { refuse } from '../iam/identityprovider/linking/login-refusal.ts'
import type { Provider } from '../iam/identityprovider/provider-store.ts'
import { createLockout } from '../iam/lockout/lockout.ts'
import { createLoginKeys } from '../iam/lockout/login-keys.ts'
import type { PasswordHasher } from '../iam/passwords/password.ts'
import { createPasswordChecker } from '../iam/passwords/password-check.ts'
import type { DeviceAuthorization } from '../iam/sessions/device-authorization.ts'
import type { NewSession, Session } from '../iam/sessions/session.ts'
import type { User } from '../iam/users/user.ts'
import { audience, issuer, memoryKeys } from '../jwt/fixtures.ts'
import { createInternalJwts } from '../jwt/internal-jwt.ts'
import { createTokenIssuer } from '../jwt/issue.ts'
import { createTokenVerifier } from '../jwt/verify.ts'
import { createLogger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { createClientAssertions } from './client-assertion.ts'
import { createOAuthApp } from './server/app.ts'
import { createTokenAudit } from './server/audit.ts'
import { createOAuthMetrics } from './server/metrics.ts'
import type { GrantTools } from './tokens/grant.ts'
import { createSubjectTokens } from './tokens/subject-token.ts'
import { memoryWorkloads } from './workload-fixtures.ts'

export function memorySessions() {
  const sessions = new Map<string, Session>()
  let version = 0
  return {
    sessions,
    async create(session: NewSession) {
      if (sessions.has(session.sid)) throw new Status(409, 'AlreadyExists', 'it exists')
      const stored = { ...session, createdAtMs: Date.now(), resourceVersion: String(++version) }
      sessions.set(session.sid, stored)
      return stored
    },
    async list(user: string) {
      return [...sessions.values()].filter(session => session.user === user)
    },
    isRevoked: (sid: string) => sessions.get(sid)?.ended !== '',
    async read(sid: string) {
      return sessions.get(sid)
    },
    async update(session: Session) {
      if (sessions.get(session.sid)?.resourceVersion !== session.resourceVersion) return false
      sessions.set(session.sid, { ...session, resourceVersion: String(++version) })
      return true
    },
  }
}

export function memoryDevices(): GrantTools['devices'] {
  const devices = new Map<string, DeviceAuthorization>()
  const nobody = { user: '', userUid: '', provider: '', authTime: 0, browserSid: '', sid: '' }
  return {
    async create(device) {
      devices.set(device.name, { ...device, ...nobody, decision: '', resourceVersion: '1' })
    },
    async read(name) {
      const device = devices.get(name)
      return device === undefined || device.expiresAtMs < Date.now() ? undefined : device
    },
    async update(device) {
      if (devices.get(device.name)?.resourceVersion !== device.resourceVersion) return false
      devices.set(device.name, { ...device, resourceVersion: `${device.resourceVersion}1` })
      return true
    },
    async remove(name) {
      devices.delete(name)
    },
  }
}

export function memoryUser(name: string, changes: Partial<User> = {}): User {
  return {
    name,
    uid: `uid-${name}`,
    createdAt: '2026-01-01T00:00:00Z',
    resourceVersion: '1',
    generation: 1,
    email: `${name}@kapis.io`,
    displayName: '',
    lang: '',
    groups: ['dev'],
    providerGroups: [],
    state: 'Active',
    stateSinceMs: 0,
    inlineHash: 'right',
    credential: 'c1',
    credentialNamespace: '',
    hasAppliedHash: false,
    mustChangePassword: false,
    isEmailVerified: true,
    ...changes,
  }
}

export function memoryClient(name: string, changes: Partial<ClientConfig> = {}): ClientConfig {
  return { ...defaultClient, name, ...changes }
}

const testClients: readonly RegisteredClient[] = [
  { client: memoryClient('kapis'), secret: 'kapis' },
  { client: memoryClient('a:b c'), secret: 'p%+ä' },
  {
    client: memoryClient('cli', { public: true, grantTypes: ['authorization_code', 'refresh_token'] }),
    secret: undefined,
  },
]

export type Answer = {
  readonly code: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

/**
 * The app of kapis-oauth on a free loopback port, with users and logins in memory. The password of
 * a user is the hash itself.
 */
export async function startApp() {
  const keys = await memoryKeys()
  const users = new Map(
    [
      memoryUser('alice'),
      memoryUser('disabled', { state: 'Disabled' }),
      memoryUser('locked', { state: 'AuthLimitExceeded' }),
      memoryUser('nopassword', { inlineHash: undefined, credential: '' }),
    ].map(user => [user.name, user]),
  )
  const sessions = memorySessions()
  const lines: Record<string, unknown>[] = []
  const logger = createLogger({
    program: 'test',
    level: 'info',
    destination: { write: line => void lines.push(JSON.parse(line)) },
  })
  const verifier = createTokenVerifier({ issuer, audience, clockSkewSeconds: 10, keys })
  const known = {
    get: (name: string) => users.get(name),
    find: (login: string) => users.get(login.replace('@kapis.io', '')),
  }
  const providers = new Map<string, Provider>()
  const admission: AccountLinking = {
    async admit(config, identity) {
      const user = users.get(identity.uid)
      if (user !== undefined) return { user }
      return {
        registration: {
          config,
          identity,
          wants: config.mappingMethod === 'manual' ? 'link' : 'confirmation',
        },
      }
    },
    linkedTo: (_config, uid) => users.get(uid),
    async register({ identity }, name) {
      if (users.has(name))
        throw refuse('user_name_taken', `the user name ${name} is taken; choose another one`)
      if (users.has(identity.uid))
        throw refuse('user_already_linked', 'a user was created for this account in the meantime')
      const user = memoryUser(name, { email: identity.email, inlineHash: undefined, credential: '' })
      users.set(name, user).set(identity.uid, user)
      return user
    },
    async link({ identity }, user) {
      if (users.has(identity.uid))
        throw refuse('user_already_linked', 'a user was created for this account in the meantime')
      users.set(identity.uid, user)
      return user
    },
  }
  const hasher: PasswordHasher = {
    hash: async password => password,
    verify: async (password, stored) => stored !== undefined && password === stored,
    pending: () => 0,
  }
  const state = { isReady: true, isPollInTime: true }
  const workloads = await memoryWorkloads()
  const rule = { maxTries: 5, durationSeconds: 600 }
  const tools: GrantTools & { multipleLogin: () => boolean } = {
    multipleLogin: () => true,
    users: known,
    sessions,
    recordLogin: () => undefined,
    passwords: createPasswordChecker({
      users: known,
      hasher,
      hashOf: async ({ inlineHash }) => inlineHash,
      lockout: createLockout({ rules: { user: rule, address: { ...rule, maxTries: 1000 } } }),
      durationSeconds: rule.durationSeconds,
      toKeys: createLoginKeys(() => Buffer.from('secret')),
      maxTries: rule.maxTries,
      maxTriesPerAddress: 1000,
      // With one replica, only the lockout decides.
      failed: async () => ({ ofName: 0, ofAddress: 0 }),
      counts: { countOf: async () => 0, countFrom: async () => 0 },
      locked: () => undefined,
    }),
    providers: {
      store: { get: name => providers.get(name), all: () => providers.values() },
      ...admission,
      failed: () => undefined,
    },
    issuer: createTokenIssuer({ issuer, audience, keys }),
    verifier,
    internalJwts: createInternalJwts({ issuer, keys }),
    subjectTokens: createSubjectTokens(
      { users: known, sessions, verifier },
      { ...workloads, issuer, audience, clockSkewSeconds: 10 },
    ),
    devices: memoryDevices(),
    isPollInTime: () => state.isPollInTime,
    lifetimes: { accessTokenSeconds: 7200, refreshTokenSeconds: 14_400, loginMaxAgeSeconds: 86_400 },
  }
  const clients = new Map(testClients.map(each => [each.client.name, each]))
  const metricsRegistry = createRegistry()
  const app = createOAuthApp({
    issuer,
    assertions: createClientAssertions({ ...workloads, issuer, clockSkewSeconds: 10 }),
    groupDomain: 'kapis.io',
    registry: { find: name => clients.get(name), all: () => clients.values() },
    tools,
    productName: 'Kapis',
    hasher,
    hashOf: async user => user.inlineHash,
    async changePassword(user, passwordHash) {
      const changed = {
        ...user,
        inlineHash: passwordHash,
        credential: passwordHash,
        generation: 2,
        mustChangePassword: false,
      }
      users.set(user.name, changed)
      return changed
    },
    keys,
    keysMaxAgeSeconds: 300,
    check: {
      async authenticate({ headers: { authorization } }) {
        if (authorization === undefined) return
        await verifier.verifyAccess(authorization.replace(/^Bearer /, '')).catch(cause => {
          throw unauthorized(cause)
        })
      },
    },
    isReady: () => state.isReady,
    logger,
    audit: createTokenAudit({ logger, metrics: createOAuthMetrics(metricsRegistry) }),
    metricsRegistry,
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  function ask(
    method: string,
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const req = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, async res => {
      const text = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, headers: res.headers, body: text })
    })
    req.on('error', reject)
    req.end(body)
    return promise
  }

  return {
    app,
    ask,
    clients,
    keys,
    lines,
    providers,
    sessions: sessions.sessions,
    state,
    users,
    workloads,
    tools,
    /**
     * Builds a form for the token endpoint; the client is `kapis` unless the form or a header names
     * another.
     */
    token(form: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
      const client = 'client_id' in form || 'authorization' in headers ? {} : kapis
      return ask('POST', '/oauth/token', {
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: String(new URLSearchParams({ ...client, ...form })),
      })
    },
    /** Sends a form to any endpoint, unchanged. */
    form(path: string, fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
      return ask('POST', path, {
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: String(new URLSearchParams(fields)),
      })
    },
    /** A login with the right password. */
    async login(username: string, more: Readonly<Record<string, string>> = {}): Promise<TestTokens> {
      const fields = { grant_type: 'password', username, password: 'right', ...kapis, ...more }
      const answer = await this.form('/oauth/token', fields)
      if (answer.code !== 200) throw new Error(answer.body)
      return JSON.parse(answer.body)
    },
    close: () => server.close(),
  }
}

/** The client of most tests, as it authenticates by form. */
export const kapis = { client_id: 'kapis', client_secret: 'kapis' }

export type TestTokens = { readonly access_token: string; readonly refresh_token: string }

export type TestApp = Awaited<ReturnType<typeof startApp>>
