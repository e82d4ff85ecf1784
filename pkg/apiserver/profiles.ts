import { badRequest, methodNotAllowed, tooManyRequests } from '../status/status.ts'
import type { Logger } from '../telemetry/logger.ts'
import { type ProfileKind, profileKinds, takeProfile } from '../telemetry/profile.ts'
import type { DocumentFace } from './router.ts'

const prefix = '/debug/profile/'
const seconds = { default: 30, max: 60 }

/** Profiles of the running front, one at a time: each slows it down a little. Whoever asks needs `get` on the path. */
export function createProfiles(logger: Logger): DocumentFace {
  let isTaking = false
  return {
    handles: path => kindOf(path) !== undefined,
    async handle({ req, res, info, query }) {
      const kind = kindOf(info.path)
      if (kind === undefined || req.method !== 'GET') throw methodNotAllowed(['GET'])
      const wanted = readSeconds(query)
      if (isTaking) throw tooManyRequests('a profile is being taken already', seconds.max)
      isTaking = true
      const gone = new AbortController()
      res.once('close', () => gone.abort())
      logger.warn({ kind, seconds: wanted }, 'a profile is being taken')
      const headers = {
        'content-type': 'application/json',
        'content-disposition': `attachment; filename="kapis.${kind}profile"`,
        'cache-control': 'no-store',
      }
      // The head at once: a profile may take longer than requests are given.
      res.writeHead(200, headers).flushHeaders()
      try {
        res.end(await takeProfile(kind, wanted, gone.signal))
      } finally {
        isTaking = false
      }
    },
  }
}

function kindOf(path: string): ProfileKind | undefined {
  return profileKinds.find(kind => path === prefix + kind)
}

function readSeconds(query: URLSearchParams): number {
  const given = query.get('seconds') ?? String(seconds.default)
  const value = Number(given)
  if (!/^\d{1,3}$/.test(given) || value < 1 || value > seconds.max)
    throw badRequest(`seconds: must be a whole number from 1 to ${seconds.max}`)
  return value
}
