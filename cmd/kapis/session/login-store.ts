import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { makeFolders } from '../../../pkg/files/make-folders.ts'
import type { Io } from '../command.ts'
import { hasCode } from './error-code.ts'
import type { Server } from './server-address.ts'

type Env = Readonly<Record<string, string | undefined>>
type StoredFields = Readonly<Record<string, unknown>>

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
    /** When the access token was received, in milliseconds since the epoch; 0 if it is not known. */
    readonly issuedAtMs: number
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

/**
 * Returns all logins, sorted by server and name. Skips files that cannot be read, with a warning.
 */
export function listLogins({ env, err }: Pick<Io, 'env' | 'err'>): readonly StoredLogin[] {
  const logins = loginFiles(env).flatMap(file => {
    try {
      return readLoginFile(file) ?? []
    } catch (error) {
      err(`Skipped a login: ${error instanceof Error ? error.message : error}.\n`)
      return []
    }
  })
  return logins.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Returns the names of the stored logins, for shell completion. */
export function loginNames({ env }: { readonly env: Env }): readonly string[] {
  return [...new Set(listLogins({ env, err: () => undefined }).map(({ name }) => name))]
}

/** @returns undefined if there is no such login @throws Error if its file cannot be read */
export function readLogin(env: Env, key: LoginKey): StoredLogin | undefined {
  return readLoginFile(loginFile(env, key))
}

/** Stores a login atomically. @throws Error if the folder is not writable */
export function writeLogin(env: Env, login: StoredLogin): void {
  writePrivately(loginFile(env, login), login)
}

export function removeLogin(env: Env, key: LoginKey): void {
  rmSync(loginFile(env, key), { force: true })
}

/** Returns the login that commands use by default. @throws Error if its file cannot be read */
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

function readLoginFile(file: string): StoredLogin | undefined {
  const stored = readJson(file)
  if (stored === undefined) return undefined
  const missing = ['url', 'name', 'accessToken'].find(key => typeof stored[key] !== 'string' || !stored[key])
  if (missing !== undefined) throw invalidFile(file, `the field ${missing} is missing`)
  const text = (key: string) => (typeof stored[key] === 'string' ? stored[key] : '')
  const time = (key: string) => (isTime(stored[key]) ? stored[key] : 0)
  return {
    // Fields of later releases, which a refresh must not remove.
    ...stored,
    url: text('url'),
    name: text('name'),
    ca: text('ca'),
    issuer: text('issuer'),
    username: text('username'),
    clientId: text('clientId'),
    clientSecret: text('clientSecret'),
    accessToken: text('accessToken'),
    refreshToken: text('refreshToken'),
    issuedAtMs: time('issuedAtMs'),
    expiresAtMs: time('expiresAtMs'),
  }
}

/** Reports whether a value is a time that Date can represent. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
}

/** @returns undefined if the file does not exist @throws Error for any other content than an object */
function readJson(file: string): StoredFields | undefined {
  const text = readText(file)
  if (text === undefined) return undefined
  const value = parseJson(file, text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidFile(file, 'it is not a JSON object')
  return Object.fromEntries(Object.entries(value))
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw new Error(`failed to read ${file}: ${error instanceof Error ? error.message : error}`)
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of JSON.parse repeats some of the text, which may be a token.
    throw invalidFile(file, text.trim() === '' ? 'it is empty' : 'it is not valid JSON')
  }
}

function invalidFile(file: string, why: string): Error {
  return new Error(`invalid file ${file}: ${why}; repair or delete it`)
}

/** Writes a file that is never readable by others, not even while it is created. */
function writePrivately(file: string, value: object): void {
  makeFolders(dirname(file), 0o700)
  // Not the process ID, which is the same in containers that share the folder.
  const draft = `${file}.${randomUUID()}`
  try {
    // Flushed: after a power failure, the file must contain the old or the new login.
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
    renameSync(draft, file)
  } catch (error) {
    throw new Error(`failed to write ${file}: ${error instanceof Error ? error.message : error}`)
  } finally {
    rmSync(draft, { force: true })
  }
}
