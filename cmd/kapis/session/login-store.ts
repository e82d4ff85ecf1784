import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Server } from './server.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A login as it is kept between calls, for its owner's eyes alone. */
export type StoredLogin = Server & {
  readonly clientId: string
  /** '' for a public client. */
  readonly clientSecret: string
  readonly accessToken: string
  readonly refreshToken: string
  /** Of the access token, in milliseconds since the epoch. */
  readonly expiresAtMs: number
}

/** The file of the login at one server. */
export function loginFile(env: Env, url: string): string {
  const name = createHash('sha256').update(url).digest('hex').slice(0, 16)
  return join(folder(env), 'logins', `${name}.json`)
}

export function readLogin(env: Env, url: string): StoredLogin | undefined {
  const stored = readJson(loginFile(env, url))
  const text = (key: string) => (typeof stored?.[key] === 'string' ? stored[key] : '')
  if (stored === undefined || text('accessToken') === '') return undefined
  return {
    url: text('url'),
    caFile: text('caFile'),
    clientId: text('clientId'),
    clientSecret: text('clientSecret'),
    accessToken: text('accessToken'),
    refreshToken: text('refreshToken'),
    expiresAtMs: typeof stored.expiresAtMs === 'number' ? stored.expiresAtMs : 0,
  }
}

/** Keeps a login, and takes its server for the one that is meant when none is named. */
export function writeLogin(env: Env, login: StoredLogin): void {
  writePrivately(loginFile(env, login.url), login)
  writePrivately(join(folder(env), 'current.json'), { url: login.url, caFile: login.caFile })
}

export function removeLogin(env: Env, url: string): void {
  rmSync(loginFile(env, url), { force: true })
}

/** The server of the last login. */
export function readCurrent(env: Env): Server | undefined {
  const { url, caFile } = readJson(join(folder(env), 'current.json')) ?? {}
  return typeof url === 'string' && typeof caFile === 'string' ? { url, caFile } : undefined
}

function folder(env: Env): string {
  return env.KAPIS_HOME || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'kapis')
}

function readJson(file: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined
  } catch {
    return undefined
  }
}

/** Whole or not at all, and never readable by others, not for a moment. */
function writePrivately(file: string, value: object): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}
