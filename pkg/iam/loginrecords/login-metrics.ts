import { counter, gauge, type Registry } from '../../telemetry/metrics.ts'
import type { LoginRecord } from './login-record.ts'

export type LoginMetrics = {
  readonly login: (type: LoginRecord['type'], result: 'success' | 'failure') => void
  /** @param kind the kind of the locked key: user, login name as entered, or address */
  readonly locked: (kind: string) => void
  readonly recordLost: () => void
}

export function createLoginMetrics(
  registry: Registry,
  read: { readonly pendingHashes: () => number; readonly waitingRecords: () => number },
): LoginMetrics {
  const logins = counter(registry, {
    name: 'kapis_logins_total',
    help: 'Login attempts of users, by type and result. Requests rejected before the password was checked are not counted.',
    labels: ['type', 'result'],
  })
  const locks = counter(registry, {
    name: 'kapis_login_locks_total',
    help: 'Locks after too many wrong passwords, by kind: user, login (a name as entered) or address.',
    labels: ['kind'],
  })
  const lost = counter(registry, {
    name: 'kapis_login_records_lost_total',
    help: 'Login records that were not written because too many were pending or kube-apiserver rejected them.',
  })
  gauge(registry, {
    name: 'kapis_login_records_pending',
    help: 'Login records that are queued to be written.',
    collect: metric => metric.set(read.waitingRecords()),
  })
  gauge(registry, {
    name: 'kapis_password_hashes_pending',
    help: 'Password hashes being computed or queued.',
    collect: metric => metric.set(read.pendingHashes()),
  })
  return {
    login: (type, result) => logins.inc({ type, result }),
    locked: kind => locks.inc({ kind }),
    recordLost: () => lost.inc(),
  }
}
