import { unavailable } from '../../apierrors/status.ts'
import { type LockoutRule, SlidingWindow } from './sliding-window.ts'

/** The key of a failure count: a user, a login name as entered, or a source address. */
export type LockoutKey = `${'user' | 'login' | 'address'}:${string}`

export type Attempt = {
  /** @returns the keys that this failure has locked */
  readonly failed: () => readonly LockoutKey[]
  /** Ends the attempt without a failure: the password was correct or was not checked. */
  readonly passed: () => void
}

export type Lockout = {
  /**
   * Reserves the check of one password before it is hashed. So a concurrent burst cannot check more
   * passwords than may fail: further callers wait for earlier results.
   *
   * @returns the attempt, which must be ended; or the time in milliseconds until which a key is
   * locked
   * @throws Status 503 if too many callers wait; the reason of the signal if the client has
   * disconnected
   */
  readonly begin: (keys: readonly LockoutKey[], signal?: AbortSignal) => Promise<Attempt | number>
  /** Counts a failure that another replica has recorded. */
  readonly note: (keys: readonly LockoutKey[], atMs: number) => void
  readonly forgive: (keys: readonly LockoutKey[], atMs: number) => void
  readonly lockedUntilMs: (key: LockoutKey) => number | undefined
  readonly hasFailures: (keys: readonly LockoutKey[]) => boolean
  /** Reports whether a key has at least half of the failures that lock it. */
  readonly isHalfway: (key: LockoutKey) => boolean
}

export type LockoutOptions = {
  /** Limits for users and names, and for addresses, which many people may share. */
  readonly rules: { readonly user: LockoutRule; readonly address: LockoutRule }
  readonly now?: () => number
  readonly maxKeys?: number
}

type Track = { readonly window: SlidingWindow; running: number; readonly waiting: Set<() => void> }

const maxWaiting = 4_096
// Every failure costs a hash: hundreds of cores would be needed for so many failures in one window.
const defaultMaxKeys = 200_000

export function createLockout({ rules, now = Date.now, maxKeys = defaultMaxKeys }: LockoutOptions): Lockout {
  const tracks = new Map<LockoutKey, Track>()
  let waiting = 0

  const ruleOf = (key: LockoutKey) => (key.startsWith('address:') ? rules.address : rules.user)

  function track(key: LockoutKey): Track {
    const known = tracks.get(key)
    if (known) return known
    if (tracks.size >= maxKeys) makeRoom()
    const fresh = { window: new SlidingWindow(ruleOf(key)), running: 0, waiting: new Set<() => void>() }
    tracks.set(key, fresh)
    return fresh
  }

  /** Removes expired entries, then the oldest. */
  function makeRoom(): void {
    for (const key of [...tracks.keys()]) drop(key)
    for (const [key, { running }] of tracks) {
      if (tracks.size < maxKeys) return
      if (running === 0) tracks.delete(key)
    }
  }

  function drop(key: LockoutKey): void {
    const { window, running, waiting: waiters } = tracks.get(key) ?? {}
    if (running === 0 && waiters?.size === 0 && window?.isEmpty(now())) tracks.delete(key)
  }

  function lockedUntil(keys: readonly LockoutKey[]): number | undefined {
    const ends = keys.map(key => tracks.get(key)?.window.lockedUntilMs(now()) ?? 0)
    const end = Math.max(...ends)
    return end === 0 ? undefined : end
  }

  /** Returns the first key that its running checks would lock if all of them failed. */
  function full(keys: readonly LockoutKey[]): Track | undefined {
    return keys.map(track).find(({ window, running }) => running >= window.left(now()))
  }

  async function turn(at: Track, signal: AbortSignal | undefined): Promise<void> {
    if (waiting >= maxWaiting) throw unavailable('too many concurrent logins', undefined, 2)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => reject(signal?.reason)
    at.waiting.add(resolve)
    signal?.addEventListener('abort', leave, { once: true })
    waiting++
    try {
      await promise
    } finally {
      waiting--
      at.waiting.delete(resolve)
      signal?.removeEventListener('abort', leave)
    }
  }

  function end(keys: readonly LockoutKey[], isFailure: boolean): readonly LockoutKey[] {
    const locked: LockoutKey[] = []
    for (const key of keys) {
      const ended = track(key)
      ended.running--
      if (isFailure && ended.window.add(now())) locked.push(key)
      for (const wake of ended.waiting) wake()
      drop(key)
    }
    return locked
  }

  return {
    async begin(keys, signal) {
      for (;;) {
        signal?.throwIfAborted()
        const until = lockedUntil(keys)
        if (until !== undefined) return until
        const busy = full(keys)
        if (busy === undefined) break
        await turn(busy, signal)
      }
      for (const key of keys) track(key).running++
      return { failed: () => end(keys, true), passed: () => void end(keys, false) }
    },
    note(keys, atMs) {
      for (const key of keys) track(key).window.add(atMs)
    },
    forgive(keys, atMs) {
      for (const key of keys) {
        const known = tracks.get(key)
        known?.window.forgive(atMs)
        for (const wake of known?.waiting ?? []) wake()
        drop(key)
      }
    },
    lockedUntilMs: key => tracks.get(key)?.window.lockedUntilMs(now()),
    isHalfway(key) {
      const { window } = tracks.get(key) ?? {}
      return window !== undefined && window.left(now()) <= ruleOf(key).maxTries / 2
    },
    hasFailures: keys => keys.some(key => tracks.get(key)?.window.isEmpty(now()) === false),
  }
}

/** Returns the seconds until a lock ends, for Retry-After. */
export function secondsUntil(lockedUntilMs: number): number {
  return Math.max(1, Math.ceil((lockedUntilMs - Date.now()) / 1000))
}
