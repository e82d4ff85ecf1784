import type { Session } from './session.ts'

/** Returns a session of jane in pod web-0 of namespace shop, overridden by `given`. */
export function session(given: Partial<Session> = {}): Session {
  return {
    id: 'one',
    namespace: 'shop',
    pod: 'web-0',
    container: 'web',
    subresource: 'exec',
    command: ['sh', '-c', 'ls'],
    tty: true,
    user: 'jane',
    groups: ['devs'],
    impersonator: '',
    sourceIP: '10.1.2.3',
    policy: 'all',
    auditID: 'audit-1',
    startTimestamp: '2026-11-27T12:00:00.000Z',
    ...given,
  }
}
