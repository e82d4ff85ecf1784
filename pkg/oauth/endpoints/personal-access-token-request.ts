import type { Request } from 'express'
import { JsonTooDeep, parseJson } from '../../json/parse.ts'
import { readScope } from '../../jwt/online-audience.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { invalidRequest, oauthError } from '../server/error.ts'

export type TokenRequest = { readonly name: string; readonly scope: string; readonly lifeSeconds: number }

const members = ['name', 'scope', 'expiresInSeconds']
export const scopes = ['full', readScope]
export const life = { default: 30 * 86_400, min: 60, max: 366 * 86_400 }
export const maxNameLength = 253

/** Parses `{name, scope?, expiresInSeconds?}`. @throws Status invalid_request */
export function readTokenRequest(req: Request): TokenRequest {
  if (!req.is('application/json'))
    throw oauthError(415, 'invalid_request', 'the body must be application/json', {
      headers: { 'accept-post': 'application/json' },
    })
  const body = parse(req.body)
  for (const member of Object.keys(body))
    if (!members.includes(member)) throw invalidRequest(`unknown fields; supported: ${members.join(', ')}`)
  const { name, scope = 'full', expiresInSeconds = life.default } = body
  if (typeof name !== 'string' || name.trim() === '' || name.length > maxNameLength)
    throw invalidRequest(`name must be text of 1 to ${maxNameLength} characters`)
  if (typeof scope !== 'string' || !scopes.includes(scope))
    throw invalidRequest(`scope must be one of ${scopes.join(', ')}`)
  const isLife =
    typeof expiresInSeconds === 'number' &&
    Number.isInteger(expiresInSeconds) &&
    expiresInSeconds >= life.min &&
    expiresInSeconds <= life.max
  if (!isLife) throw invalidRequest(`expiresInSeconds must be a whole number from ${life.min} to ${life.max}`)
  return { name, scope, lifeSeconds: expiresInSeconds }
}

function parse(body: unknown): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = parseJson(String(body))
  } catch (error) {
    throw invalidRequest(error instanceof JsonTooDeep ? error.message : 'the body is not valid JSON')
  }
  if (!isRecord(parsed)) throw invalidRequest('the body must be an object')
  return parsed
}
