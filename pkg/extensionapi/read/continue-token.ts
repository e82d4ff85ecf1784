import { badRequest } from '../../apierrors/status.ts'

/**
 * The position of a paged list: after `key` in the snapshot at `version`. Version -1 is an
 * "inconsistent" continuation in the current state; clients get one if their snapshot is no longer
 * available.
 */
export type Continuation = {
  readonly version: number
  readonly key: string
  /** Identifies the objects that a narrowed list shows. */
  readonly view?: string
}

export const inconsistent = -1

/** Formats an opaque token: base64url of JSON, as in the Kubernetes API. */
export function formatContinueToken({ version, key, view }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: 'kapis/v1', rv: version, after: key, view })).toString('base64url')
}

/** @throws Status 400 for a token that Kapis did not issue */
export function parseContinueToken(token: string): Continuation {
  const broken = badRequest(
    'continue key is not valid: it must be the value that the previous page of this list returned',
  )
  if (token.length > 4096 || !/^[A-Za-z0-9_-]+$/.test(token)) throw broken
  let parsed: { v?: unknown; rv?: unknown; after?: unknown; view?: unknown } | null
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
  } catch {
    throw broken
  }
  const { v, rv, after, view } = parsed ?? {}
  if (v !== 'kapis/v1' || typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv < inconsistent)
    throw broken
  if (typeof after !== 'string') throw broken
  if (view === undefined) return { version: rv, key: after }
  if (typeof view !== 'string') throw broken
  return { version: rv, key: after, view }
}
