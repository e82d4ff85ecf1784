import express, { type Express, type RequestHandler } from 'express'
import { renderKube } from '../../apierrors/render-kube.ts'
import type { KeySource } from '../../jwt/key-source.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Registry } from '../../telemetry/metrics.ts'
import { listenerProfilePrefix, profileKinds } from '../../telemetry/profile.ts'
import { createProfileHandler } from '../../telemetry/profile-handler.ts'
import type { BrowserOptions } from '../browser/dependencies.ts'
import {
  confirmationPath,
  createLogoutConfirmation,
  createLogoutDecision,
} from '../browser/logout-confirmation.ts'
import { browserRoutes } from '../browser/routes.ts'
import { type ClientRegistry, createClientAuthentication } from '../client.ts'
import type { ClientAssertions } from '../client-assertion.ts'
import { createIntrospection } from '../endpoints/introspect.ts'
import { createLogout } from '../endpoints/logout.ts'
import { createPasswordLogin } from '../endpoints/password-login.ts'
import { createPersonalAccessTokens } from '../endpoints/personal-access-tokens.ts'
import { createPlatformConfig, platformConfigPath } from '../endpoints/platform-config.ts'
import { createRevocation } from '../endpoints/revoke.ts'
import { createTokenReview } from '../endpoints/token-review.ts'
import { createUserinfo } from '../endpoints/userinfo.ts'
import { createCallback } from '../provider-redirect/callback.ts'
import { createRedirectToProvider } from '../provider-redirect/redirect-to-provider.ts'
import type { GrantTools } from '../tokens/grant.ts'
import { type AuthorizationCheck, requireValidCredential } from '../tokens/require-valid-credential.ts'
import { createTokenEndpoint } from '../tokens/token-endpoint.ts'
import type { TokenAudit } from './audit.ts'
import { allowAnyOrigin, allowClientOrigins } from './cors.ts'
import { toDiscovery } from './discovery.ts'
import { oauthError } from './error.ts'
import { formLimit, toErrorHandler } from './error-handler.ts'
import { addRoutes, type Methods } from './routes.ts'

export type AppOptions = Pick<BrowserOptions, 'productName' | 'hasher' | 'hashOf' | 'changePassword'> & {
  readonly groupDomain: string
  readonly issuer: string
  readonly registry: ClientRegistry
  readonly assertions: ClientAssertions
  readonly tools: GrantTools
  readonly keys: KeySource
  /** How long clients may cache the public keys, in seconds. */
  readonly keysMaxAgeSeconds: number
  readonly check: AuthorizationCheck
  readonly isReady: () => boolean
  readonly logger: Logger
  readonly audit: TokenAudit
  readonly metricsRegistry: Registry
}

// The limit is well above that of a token, so that a token that is too long is reported as invalid.
const reviewLimit = '1mb'

function discoveryPaths(issuer: string): string[] {
  return [
    '/oauth/.well-known/openid-configuration',
    // OpenID Connect Discovery section 4: the path for an issuer without a path.
    ...(new URL(issuer).pathname === '/' ? ['/.well-known/openid-configuration'] : []),
    // RFC 8414 sections 3.1 and 5: the path of the issuer follows the well-known part.
    '/.well-known/openid-configuration/oauth',
    '/.well-known/oauth-authorization-server/oauth',
    '/.well-known/oauth-authorization-server',
  ]
}

/** Endpoints that clients call directly, without a redirect of the browser. */
const clientEndpoints = ['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/device_authorization']

/** Creates the app with the routes of kapis-oauth. */
export function createOAuthApp(appOptions: AppOptions): Express {
  const options = {
    ...appOptions,
    authenticateClient: createClientAuthentication(appOptions.registry, appOptions.assertions),
  }
  const { issuer, keys, keysMaxAgeSeconds, metricsRegistry, isReady } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', 'simple')
  app.use(withSafetyHeaders)

  // A process that responds is alive: a restart would not make kube-apiserver available sooner.
  app.get('/livez', (_req, res) => void res.type('text').send('ok'))
  app.get('/healthz', (_req, res) => {
    const isWell = isReady()
    res
      .status(isWell ? 200 : 503)
      .type('text')
      .send(isWell ? 'ok' : 'not ready')
  })
  app.get('/metrics', async (_req, res) => {
    res.type(metricsRegistry.contentType).send(await metricsRegistry.metrics())
  })

  const profile = createProfileHandler('kapis-oauth', appOptions.logger)
  for (const kind of profileKinds) {
    // Not authorized here: kapis-apiserver has already authorized the caller.
    app.get(listenerProfilePrefix + kind, (req, res) => {
      const query = new URLSearchParams(req.url.split('?')[1])
      profile(kind, query, res).catch(error => renderKube(res, error))
    })
  }

  const documents = discoveryPaths(issuer)
  const platformConfig = platformConfigPath(options.groupDomain)
  const publicConfig: Methods = {
    get: createPlatformConfig({
      issuer,
      clients: () => [...options.registry.all()].map(({ client }) => client),
      providers: () => options.tools.providers.store.all(),
      lifetimes: options.tools.lifetimes,
    }),
  }
  app.use([...documents, '/oauth/keys'], allowAnyOrigin)
  app.use('/oauth/userinfo', allowClientOrigins(options.registry, 'GET, HEAD, POST'))
  app.use(clientEndpoints, allowClientOrigins(options.registry, 'POST'))
  app.use(['/oauth/userinfo', '/oauth/personal-access-tokens'], requireValidCredential(options.check))
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: formLimit })
  const json = express.text({ type: 'application/json', limit: reviewLimit })
  const personal = createPersonalAccessTokens(options)
  const userinfo = createUserinfo(options)
  const logout = createLogout(options)
  addRoutes(
    app,
    { before: [requireReady(isReady)], form },
    {
      '/oauth/token': { post: createTokenEndpoint(options) },
      '/oauth/revoke': { post: createRevocation(options) },
      '/oauth/introspect': { post: createIntrospection(options) },
      '/oauth/authenticate': { post: createTokenReview(options), body: json },
      '/oauth/userinfo': { get: userinfo, post: userinfo },
      '/oauth/logout': { get: logout, post: logout, isHeadRejected: true },
      [confirmationPath]: {
        get: createLogoutConfirmation(options),
        post: createLogoutDecision(options),
        isHeadRejected: true,
      },
      '/oauth/login/:idp': {
        get: createRedirectToProvider(options),
        post: createPasswordLogin(options),
        isHeadRejected: true,
      },
      '/oauth/callback/:idp': { get: createCallback(options), isHeadRejected: true },
      ...browserRoutes(options),
      '/oauth/personal-access-tokens': { get: personal.list, post: personal.create, body: json },
      '/oauth/personal-access-tokens/:id': { delete: personal.remove },
      [platformConfig]: publicConfig,
      [`${platformConfig}/`]: publicConfig,
    },
  )
  const discovery: Methods = { get: (_req, res) => void res.json(toDiscovery(issuer)) }
  addRoutes(
    app,
    { before: [], form },
    {
      ...Object.fromEntries(documents.map(path => [path, discovery])),
      '/oauth/keys': {
        get(_req, res) {
          res.set('cache-control', `public, max-age=${keysMaxAgeSeconds}`).json(keys.current().jwks())
        },
      },
    },
  )
  app.use(() => {
    throw oauthError(404, 'invalid_request', 'unknown endpoint')
  })
  app.use(toErrorHandler(options.logger, options.productName))
  return app
}

const withSafetyHeaders: RequestHandler = (_req, res, next) => {
  res.set('x-content-type-options', 'nosniff')
  next()
}

/** Responds with 503 until the users are loaded: until then every password would seem wrong. */
function requireReady(isReady: () => boolean): RequestHandler {
  return (_req, _res, next) => {
    if (isReady()) return next()
    throw oauthError(503, 'temporarily_unavailable', 'kapis-oauth is starting', {
      headers: { 'retry-after': '1' },
    })
  }
}
