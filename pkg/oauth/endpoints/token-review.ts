import type { Request, RequestHandler } from 'express'
import { renderKube } from '../../apierrors/render-kube.ts'
import { badRequest, Status } from '../../apierrors/status.ts'
import { JsonTooDeep, parseJson } from '../../json/parse.ts'
import { isReadOnly, onlineAudience } from '../../jwt/online-audience.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { withAudit } from '../server/with-audit.ts'
import { type ValidToken, validateAccessToken } from '../tokens/token-validation.ts'
import type { EndpointOptions } from './dependencies.ts'

type Review = {
  readonly apiVersion: string
  readonly token: string
  /** The requested audiences; empty if the caller requests none. */
  readonly audiences: readonly string[]
}

const versions = ['authentication.k8s.io/v1', 'authentication.k8s.io/v1beta1']

/**
 * POST /oauth/authenticate: the token authentication webhook of a kube-apiserver (TokenReview). An
 * invalid token gets 200 with `authenticated: false`; an error means that the token could not be
 * checked. Errors are Kubernetes Status objects.
 */
export function createTokenReview({ tools, audit }: EndpointOptions): RequestHandler {
  const handler = withAudit(audit, 'authenticate', async (req, res, event) => {
    const { apiVersion, token, audiences } = readReview(req)
    const standing = await validateAccessToken(tools, token)
    const isFor = (audience: string) => standing?.claims.aud.includes(audience)
    // The session has been checked, so a token for the online audience is valid for the plain one
    // too (jwt/online-audience.ts).
    const accepted = audiences.filter(audience => isFor(audience) || isFor(onlineAudience(audience)))
    const isMeant = audiences.length === 0 || accepted.length > 0
    // kube-apiserver cannot enforce a read-only scope, so such a token is rejected.
    const isWhole = standing !== undefined && !isReadOnly(standing.claims.scope)
    const status =
      !isWhole || !isMeant
        ? { authenticated: false }
        : {
            authenticated: true,
            user: toUserInfo(standing),
            ...(accepted.length === 0 ? {} : { audiences: accepted }),
          }
    if (standing !== undefined) Object.assign(event, { user: standing.user.name, sid: standing.claims.sid })
    res.set('cache-control', 'no-store').json({ apiVersion, kind: 'TokenReview', status })
  })
  return async (req, res, next) => {
    try {
      await handler(req, res, next)
    } catch (error) {
      if (error instanceof Status && error.code < 500) renderKube(res, error)
      else throw error
    }
  }
}

function toUserInfo({ user, claims }: ValidToken): object {
  return {
    username: user.name,
    uid: user.uid,
    groups: user.groups,
    extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] },
  }
}

function readReview(req: Request): Review {
  if (!req.is('application/json'))
    throw new Status(415, 'UnsupportedMediaType', 'the body must be application/json', {
      headers: { 'accept-post': 'application/json' },
    })
  const { apiVersion, kind, spec } = parseBody(req.body)
  if (kind !== 'TokenReview' || typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    throw badRequest(`the body must be a TokenReview of ${versions.join(' or ')}`)
  const { token, audiences = [] } = isRecord(spec) ? spec : {}
  if (typeof token !== 'string' || token === '')
    throw badRequest('token is required for TokenReview in authentication')
  if (!Array.isArray(audiences) || !audiences.every(audience => typeof audience === 'string'))
    throw badRequest('spec.audiences must be a list of strings')
  return { apiVersion, token, audiences }
}

function parseBody(body: unknown): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = parseJson(String(body))
    return isRecord(parsed) ? parsed : {}
  } catch (error) {
    throw badRequest(error instanceof JsonTooDeep ? error.message : 'the body is not valid JSON')
  }
}
