import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { makeFolders } from '../../../pkg/files/make-folders.ts'
import { hasCode } from './error-code.ts'
import type { Server } from './server-address.ts'

type Env = Readonly<Record<string, string | undefined>>
type Stored = Readonly<Record<string, unknown>>

/** Identifies a login by server and context: several users can be logged in at one server. */
export type LoginKey = { readonly url: string; readonly name: string }

/** A stored login, in a file that only its owner can read. */
export type StoredLogin = LoginKey &
  Server & {
    /** The issuer identifier (RFC 8414). */
    readonly issuer: string
    /** The user name; '' if the server did not return it. */
    readonly username: string
    readonly clientId: string
    /** The client secret; '' for a public client. */
    readonly clientSecret: string
    readonly accessToken: string
    readonly refreshToken: string
    /** When the access token expires, in milliseconds since the epoch. */
    readonly expiresAtMs: number
  }

export const defaultContext = 'kapis'

/** Returns the folder of logins: KAPIS_HOME, otherwise kapis in XDG_CONFIG_HOME or ~/.config. */
export function storeFolder(env: Env): string {
  return resolve(env.KAPIS_HOME || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'kapis'))
}

/** Returns the path of the file for a login, which may not exist. */
export function loginFile(env: Env, { url, name }: LoginKey): string {
  const hash = createHash('sha256').update(`${url}\n${name}`).digest('hex').slice(0, 16)
  return join(storeFolder(env), 'logins', `${hash}.json`)
}

/** Returns all logins, sorted by server and name. */
export function listLogins(env: Env): readonly StoredLogin[] {
  const logins = loginFiles(env).flatMap(file => parseLogin(readJson(file)) ?? [])
  return logins.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Returns the names of the stored logins, for shell completion. */
export function loginNames({ env }: { readonly env: Env }): readonly string[] {
  return [...new Set(listLogins(env).map(({ name }) => name))]
}

export function readLogin(env: Env, key: LoginKey): StoredLogin | undefined {
  return parseLogin(readJson(loginFile(env, key)))
}

/** Stores a login atomically. @throws Error if the folder is not writable */
export function writeLogin(env: Env, login: StoredLogin): void {
  writePrivately(loginFile(env, login), login)
}

export function removeLogin(env: Env, key: LoginKey): void {
  rmSync(loginFile(env, key), { force: true })
}

/** Returns the login that commands use by default. */
export function readCurrent(env: Env): LoginKey | undefined {
  const { url, name } = readJson(currentFile(env)) ?? {}
  return typeof url === 'string' && typeof name === 'string' ? { url, name } : undefined
}

export function writeCurrent(env: Env, { url, name }: LoginKey): void {
  writePrivately(currentFile(env), { url, name })
}

function currentFile(env: Env): string {
  return join(storeFolder(env), 'current.json')
}

function keyOf({ url, name }: LoginKey): string {
  return `${url}\n${name}`
}

function loginFiles(env: Env): readonly string[] {
  const folder = join(storeFolder(env), 'logins')
  try {
    return readdirSync(folder)
      .filter(name => name.endsWith('.json'))
      .map(name => join(folder, name))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

function parseLogin(stored: Stored | undefined): StoredLogin | undefined {
  const text = (key: string) => (typeof stored?.[key] === 'string' ? stored[key] : '')
  if (stored === undefined || text('accessToken') === '') return undefined
  return {
    url: text('url'),
    name: text('name'),
    ca: text('ca'),
    issuer: text('issuer'),
    username: text('username'),
    clientId: text('clientId'),
    clientSecret: text('clientSecret'),
    accessToken: text('accessToken'),
    refreshToken: text('refreshToken'),
    expiresAtMs: typeof stored.expiresAtMs === 'number' ? stored.expiresAtMs : 0,
  }
}

function readJson(file: string): Stored | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** Writes a file that is never readable by others, not even while it is created. */
function writePrivately(file: string, value: object): void {
  makeFolders(dirname(file), 0o700)
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}
