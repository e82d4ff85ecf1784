import type { Request } from 'express'
import { oauthError } from '../error.ts'

/**
 * A parameter of the URL; '' when it is not there.
 *
 * @throws Status invalid_request for one that is given twice: two readers could take different ones
 */
export function queryParameter(req: Request, name: string): string {
  const value = req.query[name] ?? ''
  if (typeof value === 'string') return value
  throw oauthError(400, 'invalid_request', `the parameter ${name} is given twice`)
}
