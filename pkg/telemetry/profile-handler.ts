import type { ServerResponse } from 'node:http'
import { badRequest, tooManyRequests } from '../apierrors/status.ts'
import type { Logger } from './logger.ts'
import { type ProfileKind, takeProfile } from './profile.ts'

const seconds = { default: 30, max: 60 }

/** Records a profile and sends it. @throws Status 400 for seconds; 429 during another one */
export type ProfileHandler = (
  kind: ProfileKind,
  query: Pick<URLSearchParams, 'get'>,
  res: ServerResponse,
) => Promise<void>

/**
 * Creates a handler for profiles of this process. Records one at a time, because each slows the
 * process down. The caller must authorize requests.
 *
 * @param name of the downloaded file, without its extension
 */
export function createProfileHandler(name: string, logger: Logger): ProfileHandler {
  let isTaking = false
  return async (kind, query, res) => {
    const requested = readSeconds(query)
    if (isTaking) throw tooManyRequests('another profile is already being recorded', seconds.max)
    isTaking = true
    const gone = new AbortController()
    res.once('close', () => gone.abort())
    logger.warn({ kind, seconds: requested }, 'a profile is being taken')
    const headers = {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="${name}.${kind}profile"`,
      'cache-control': 'no-store',
    }
    // Sends the headers now: the request timeout applies until then, and recording may take longer.
    res.writeHead(200, headers).flushHeaders()
    try {
      res.end(await takeProfile(kind, requested, gone.signal))
    } finally {
      isTaking = false
    }
  }
}

function readSeconds(query: Pick<URLSearchParams, 'get'>): number {
  const given = query.get('seconds') ?? String(seconds.default)
  const value = Number(given)
  if (!/^\d{1,3}$/.test(given) || value < 1 || value > seconds.max)
    throw badRequest(
      `invalid seconds ${JSON.stringify(given)}: expected a whole number from 1 to ${seconds.max}`,
    )
  return value
}
