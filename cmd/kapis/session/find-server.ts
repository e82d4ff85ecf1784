import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Io, UsageError } from '../command.ts'
import { readCurrent } from './login-store.ts'
import type { Server } from './server.ts'

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
