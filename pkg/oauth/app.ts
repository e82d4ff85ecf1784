import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from '../telemetry/logger.ts'
import type { Registry } from '../telemetry/metrics.ts'
import type { KeySource } from '../token/key-source.ts'
import type { ClientRegistry } from './client.ts'
import { toDiscovery } from './discovery.ts'
import { oauthError, renderOAuth } from './error.ts'
import type { GrantTools } from './grant.ts'
import type { OAuthMetrics } from './metrics.ts'
import { createTokenEndpoint } from './token-endpoint.ts'

export type AppOptions = {
  readonly issuer: string
  readonly registry: ClientRegistry
  readonly tools: GrantTools
  readonly keys: KeySource
  readonly isReady: () => boolean
  readonly logger: Logger
  readonly metrics: OAuthMetrics
  readonly metricsRegistry: Registry
}

const formLimit = '64kb'

/** The token listener's routes. */
export function createOAuthApp(options: AppOptions): Express {
  const { issuer, keys, metrics } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')

  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: formLimit })
  const token = createTokenEndpoint(options.registry, options.tools)
  const counted: RequestHandler = (_req, res, next) => {
    res.once('finish', () => metrics.answered(res.statusCode))
    next()
  }
  app.post('/oauth/token', counted, form, token)
  app.all('/oauth/token', () => {
    throw oauthError(405, 'invalid_request', 'the token endpoint takes POST', { allow: 'POST' })
  })
  const discovery: RequestHandler = (_req, res) => void res.json(toDiscovery(issuer))
  app.get(['/oauth/.well-known/openid-configuration', '/.well-known/openid-configuration'], discovery)
  app.get(
    '/oauth/keys',
    (_req, res) => void res.set('cache-control', 'public, max-age=300').json(keys.current().jwks()),
  )
  app.get('/healthz', (_req, res) => {
    const isReady = options.isReady()
    res
      .status(isReady ? 200 : 503)
      .type('text')
      .send(isReady ? 'ok' : 'not ready')
  })
  app.get(
    '/metrics',
    async (_req, res) =>
      void res.type(options.metricsRegistry.contentType).send(await options.metricsRegistry.metrics()),
  )
  app.use(() => {
    throw oauthError(404, 'invalid_request', 'there is no such endpoint')
  })
  app.use(toErrorHandler(options.logger))
  return app
}

function toErrorHandler(logger: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const status = renderOAuth(res, fromBodyParser(error))
    const id = req.headers['x-request-id']
    if (status.code >= 500)
      logger.error({ id, path: req.path, err: status.cause ?? status }, 'token request failed')
  }
}

/** express' own parser throws errors with a status of their own. */
function fromBodyParser(error: unknown): unknown {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined
  if (type === 'entity.too.large')
    return oauthError(413, 'invalid_request', `the body is larger than ${formLimit}`)
  if (type === 'charset.unsupported' || type === 'encoding.unsupported')
    return oauthError(415, 'invalid_request', 'the body must be UTF-8')
  if (type === 'request.aborted' || type === 'request.size.invalid')
    return oauthError(400, 'invalid_request', 'the body is incomplete')
  return error
}
