import { randomUUID } from 'node:crypto'
import { unavailable } from '../../apierrors/status.ts'
import type { AuthenticationConfig } from '../../config/sections/authentication.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Registry } from '../../telemetry/metrics.ts'
import { createFailedLoginCounter } from '../lockout/failed-login-counter.ts'
import { FailedLoginWatcher } from '../lockout/failed-login-watcher.ts'
import { createLockout, type LockoutKey } from '../lockout/lockout.ts'
import { createLockoutReconciler } from '../lockout/lockout-reconciler.ts'
import { createLoginKeys, toLoginRef } from '../lockout/login-keys.ts'
import { ensureLoginNameHmacKey } from '../lockout/login-name-hmac-key.ts'
import { createLastLoginRecorder } from '../loginrecords/last-login.ts'
import { createLoginMetrics } from '../loginrecords/login-metrics.ts'
import { loginRecordsPath, toLoginRecord } from '../loginrecords/login-record.ts'
import { pruneLoginRecords } from '../loginrecords/record-pruner.ts'
import { createRecordWriter } from '../loginrecords/record-writer.ts'
import type { ClientInfo } from '../sessions/client-info.ts'
import type { User } from '../users/user.ts'
import type { PasswordHasher } from './password.ts'
import { createPasswordChecker, type PasswordChecker } from './password-check.ts'

export type PasswordServiceOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** The namespace of the Secret that the replicas share. */
  readonly namespace: string
  readonly authentication: AuthenticationConfig
  readonly users: { readonly find: (login: string) => User | undefined; readonly all: () => Iterable<User> }
  readonly hasher: PasswordHasher
  readonly hashOf: (user: User) => Promise<string | undefined>
  readonly logger: Logger
  readonly registry: Registry
}

/** A login that has succeeded. */
export type LoggedIn = { readonly user: User; readonly provider: string; readonly source: ClientInfo }

export type PasswordService = PasswordChecker & {
  /** Whether earlier failures are loaded, so that passwords can be checked. */
  readonly isReady: boolean
  readonly recordLogin: (login: LoggedIn) => void
  /** Resets the count of an unlocked user. Must be called for every change of a user. */
  readonly changed: (before: User | undefined, after: User | undefined) => void
  /** Removes old records; one of the programs must call it periodically. */
  readonly keepUp: () => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => void
}

const releaseEveryMs = 5_000

/** Verifies passwords, records logins and failures, and locks after too many failures. */
export function createPasswordService(options: PasswordServiceOptions): PasswordService {
  const { client, groupDomain, namespace, authentication, users, hasher, hashOf, logger } = options
  const {
    authenticateRateLimiterMaxTries: maxTries,
    authenticateRateLimiterMaxTriesPerAddress: maxTriesPerAddress,
    authenticateRateLimiterDurationSeconds: durationSeconds,
  } = authentication
  let shared: Buffer | undefined
  const secret = () => {
    if (shared === undefined) throw unavailable('the cache for logins has not synced yet; retry later')
    return shared
  }
  const toKeys = createLoginKeys(secret)
  const lockout = createLockout({
    rules: {
      user: { maxTries, durationSeconds },
      address: { maxTries: maxTriesPerAddress, durationSeconds },
    },
  })
  const writer = randomUUID()
  const records = createRecordWriter({
    async write(record) {
      const body = toLoginRecord(record, groupDomain, writer)
      await client.call({ method: 'POST', path: loginRecordsPath(groupDomain), body })
    },
    lost(err) {
      metrics.recordLost()
      logger.warn({ err }, 'failed to write a login record')
    },
  })
  const metrics = createLoginMetrics(options.registry, {
    pendingHashes: hasher.pending,
    waitingRecords: records.waiting,
  })
  const keeper = createLockoutReconciler({ client, groupDomain, maxTries, durationSeconds, logger })
  const feed = new FailedLoginWatcher({
    client,
    groupDomain,
    writer,
    windowSeconds: durationSeconds,
    onFailure({ user, loginRef, address, atMs }) {
      const keys: LockoutKey[] = [toKeys.address(address)]
      if (user !== '') keys.push(toKeys.user({ name: user }))
      if (loginRef !== '') keys.push(`login:${loginRef}`)
      lockout.note(keys, atMs)
    },
    logger,
  })
  const recordLastLogin = createLastLoginRecorder({ client, groupDomain, logger })
  const ledger = createFailedLoginCounter({ client, groupDomain, writer, windowSeconds: durationSeconds })
  const checker = createPasswordChecker({
    users,
    hasher,
    hashOf,
    lockout,
    maxTries,
    maxTriesPerAddress,
    durationSeconds,
    toKeys,
    failed({ login, user, provider, source, reason }) {
      const loginRef = toLoginRef(secret(), login)
      const type = provider === '' ? 'Password' : 'OAuth'
      metrics.login(type, 'failure')
      const failure = {
        user,
        loginRef,
        type,
        provider,
        source,
        success: false,
        reason,
      } as const
      return ledger.record(failure, provider === '' ? user : undefined)
    },
    counts: ledger,
    locked(keys, { user, provider, source }) {
      for (const key of keys) metrics.locked(key.slice(0, key.indexOf(':')))
      if (user !== undefined && keys.includes(toKeys.user(user))) keeper.lock(user)
      const isAddress = keys.includes(toKeys.address(source.address))
      // An unknown name may be a password in the wrong field, so it is not logged.
      const line = { audit: 'lock', user: user?.name, sourceIp: source.address }
      if (isAddress) logger.info({ ...line, reason: 'too_many_failures' }, 'source address locked')
      else if (provider !== '')
        logger.info(
          { ...line, provider, reason: 'too_many_failures' },
          'login name locked at an identity provider',
        )
      else if (user === undefined)
        logger.info({ ...line, reason: 'too_many_failures' }, 'unknown name locked')
    },
  })
  let timer: NodeJS.Timeout | undefined

  return {
    check: checker.check,
    checkFactor: checker.checkFactor,
    begin: checker.begin,
    get isReady() {
      return feed.isReady && shared !== undefined
    },
    recordLogin({ user, provider, source }) {
      recordLastLogin(user)
      const type = provider === '' ? 'Password' : 'OAuth'
      const reason = 'authenticated successfully'
      metrics.login(type, 'success')
      records.add({ user, loginRef: '', type, provider, source, success: true, reason })
    },
    changed(before, after) {
      if (before?.state !== 'AuthLimitExceeded' || after?.state !== 'Active') return
      const names = [before.name, before.email].filter(name => name !== '')
      lockout.forgive([toKeys.user(after), ...names.map(toKeys.login)], Date.now())
    },
    keepUp: () =>
      pruneLoginRecords({
        client,
        groupDomain,
        retentionSeconds: authentication.loginHistoryRetentionPeriodSeconds,
        maxEntries: authentication.loginHistoryMaximumEntries,
        unknownSeconds: durationSeconds,
      }),
    async start() {
      timer = setInterval(() => {
        keeper.release(users.all()).catch(err => logger.warn({ err }, 'failed to remove locks, retrying'))
      }, releaseEveryMs)
      while (shared === undefined && timer !== undefined) {
        shared = await ensureLoginNameHmacKey(client, namespace).catch(err => {
          logger.warn({ err }, 'failed to read the key for login names, retrying')
          return undefined
        })
        if (shared === undefined) await new Promise(resolve => setTimeout(resolve, 1_000).unref())
      }
      await feed.start()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
      feed.stop()
    },
  }
}
