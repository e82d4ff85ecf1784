import { once } from 'node:events'
import { createServer } from 'node:http'
import { unauthorized } from '../apierrors/status.ts'
import type { RegisteredClient } from '../config/sections/client.ts'
import { createFactorService } from '../iam/factors/factor-service.ts'
import { memoryFactorStore } from '../iam/factors/fixtures.ts'
import { toRelyingParty } from '../iam/factors/passkey.ts'
import type { Provider } from '../iam/identityprovider/provider-store.ts'
import { createLockout } from '../iam/lockout/lockout.ts'
import { createLoginKeys } from '../iam/lockout/login-keys.ts'
import type { PasswordHasher } from '../iam/passwords/password.ts'
import { createPasswordChecker } from '../iam/passwords/password-check.ts'
import { audience, issuer, memoryKeys } from '../jwt/fixtures.ts'
import { createInternalJwts } from '../jwt/internal-jwt.ts'
import { createTokenIssuer } from '../jwt/issue.ts'
import { createTokenVerifier } from '../jwt/verify.ts'
import { createLogger } from '../telemetry/logger.ts'
import { createRegistry } from '../telemetry/metrics.ts'
import { createClientAssertions } from './client-assertion.ts'
import { memoryClient, memoryDevices, memoryLinking, memorySessions, memoryUser } from './memory-fixtures.ts'
import { createRequests } from './request-fixtures.ts'
import { createOAuthApp } from './server/app.ts'
import { createTokenAudit } from './server/audit.ts'
import { createOAuthMetrics } from './server/metrics.ts'
import type { GrantTools } from './tokens/grant.ts'
import { createSubjectTokens } from './tokens/subject-token.ts'
import { memoryWorkloads } from './workload-fixtures.ts'

const testClients: readonly RegisteredClient[] = [
  { client: memoryClient('kapis'), secret: 'kapis' },
  { client: memoryClient('a:b c'), secret: 'p%41+ä' },
  {
    client: memoryClient('cli', { public: true, grantTypes: ['authorization_code', 'refresh_token'] }),
    secret: undefined,
  },
]

/**
 * Starts the app of kapis-oauth on a free loopback port, with users and logins in memory. The
 * password hash of a user is the password itself.
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
  const hasher: PasswordHasher = {
    hash: async password => password,
    verify: async (password, stored) => stored !== undefined && password === stored,
    pending: () => 0,
  }
  const state = { isReady: true, isPollInTime: true }
  const workloads = await memoryWorkloads()
  const rule = { maxTries: 5, durationSeconds: 600 }
  const passwords = createPasswordChecker({
    users: known,
    hasher,
    hashOf: async ({ inlineHash }) => inlineHash,
    lockout: createLockout({ rules: { user: rule, address: { ...rule, maxTries: 1000 } } }),
    durationSeconds: rule.durationSeconds,
    toKeys: createLoginKeys(() => Buffer.from('secret')),
    maxTries: rule.maxTries,
    maxTriesPerAddress: 1000,
    // With one replica, only the lockout counts failures.
    failed: async () => ({ ofName: 0, ofAddress: 0 }),
    counts: { countOf: async () => 0, countFrom: async () => 0 },
    locked: () => undefined,
  })
  const requiredGroups: string[] = []
  const factors = createFactorService({
    ...{ passwords, hasher },
    store: memoryFactorStore(),
    requiredGroups: () => requiredGroups,
    party: toRelyingParty(issuer, 'Kapis'),
  })
  const tools: GrantTools & { multipleLogin: () => boolean } = {
    multipleLogin: () => true,
    users: known,
    sessions,
    recordLogin: () => undefined,
    passwords,
    factors,
    providers: {
      store: { get: name => providers.get(name), all: () => providers.values() },
      ...memoryLinking(users),
      failed: () => undefined,
    },
    issuer: createTokenIssuer({ issuer, audience, keys }),
    verifier,
    internalJwts: createInternalJwts({ issuer, keys }),
    subjectTokens: createSubjectTokens(
      { users: known, sessions, verifier, factors },
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
  const { send, form } = createRequests(server)

  return {
    app,
    send,
    form,
    clients,
    keys,
    lines,
    providers,
    sessions: sessions.sessions,
    state,
    users,
    workloads,
    requiredGroups,
    tools,
    /** Sends a form to the token endpoint, as client `kapis` unless it names another. */
    token(fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
      const client = 'client_id' in fields || 'authorization' in headers ? {} : kapis
      return form('/oauth/token', { ...client, ...fields }, headers)
    },
    /** Logs a user in with the correct password. */
    async login(username: string, more: Readonly<Record<string, string>> = {}): Promise<TestTokens> {
      const fields = { grant_type: 'password', username, password: 'right', ...kapis, ...more }
      const response = await form('/oauth/token', fields)
      if (response.code !== 200) throw new Error(response.body)
      return JSON.parse(response.body)
    },
    close: () => server.close(),
  }
}

/** The credentials of the client of most tests, for the form. */
export const kapis = { client_id: 'kapis', client_secret: 'kapis' }

export type TestTokens = { readonly access_token: string; readonly refresh_token: string }

export type TestApp = Awaited<ReturnType<typeof startApp>>
