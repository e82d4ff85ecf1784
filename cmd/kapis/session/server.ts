import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Io } from '../command.ts'
import { UsageError } from '../command.ts'
import { readCurrent } from './login-store.ts'

/** Where the platform is, and what vouches for it: the file of an authority, or '' for those of the system. */
export type Server = { readonly url: string; readonly caFile: string }

/** Options that every command that talks to the platform takes. */
export const serverOptions = { server: { type: 'string' }, ca: { type: 'string' } } as const

export const serverUsage = `  --server URL           the platform (KAPIS_URL; otherwise that of the last login)
  --ca FILE              authority of its certificate (KAPIS_CA; otherwise that of the last login, or the system's)
`

/** From the options, the environment, or the last login. @throws UsageError */
export function findServer(values: { server?: string | undefined; ca?: string | undefined }, io: Io): Server {
  const given = values.server ?? (io.env.KAPIS_URL || undefined)
  const last = readCurrent(io.env)
  const url = given ?? last?.url
  if (url === undefined) throw new UsageError('--server is needed, or KAPIS_URL, or a login')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--server ${url}: must be an http(s) URL`)
  const { origin } = new URL(url)
  const ca = values.ca ?? (io.env.KAPIS_CA || undefined) ?? (last?.url === origin ? last.caFile : '')
  if (ca !== '' && !existsSync(ca)) throw new UsageError(`--ca ${ca}: there is no such file`)
  return { url: origin, caFile: ca === '' ? '' : resolve(ca) }
}
