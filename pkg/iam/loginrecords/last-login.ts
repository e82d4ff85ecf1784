import { createBoundedCache } from '../../cache/bounded-cache.ts'
import { type KubeClient, mergePatch } from '../../kubeclient/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { userPath } from '../users/user.ts'

// Scripts may log in many times a second, and the time may be imprecise.
const everyMs = 10_000

/** Updates status.lastLoginTime of users in the background; logins do not wait for it. */
export function createLastLoginRecorder(options: {
  client: KubeClient
  groupDomain: string
  logger: Logger
}): (user: { readonly name: string; readonly uid: string }) => void {
  const { client, groupDomain, logger } = options
  const recent = createBoundedCache<true>({ maxBytes: 1024 * 1024, sizeOf: () => 0 })

  return ({ name, uid }) => {
    if (recent.get(uid)) return
    recent.set(uid, true, everyMs)
    // metav1.Time has whole seconds.
    const status = { lastLoginTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z') }
    client
      .call(mergePatch(`${userPath(groupDomain, name)}/status`, { status }))
      .catch(err => logger.warn({ err, user: name }, 'failed to record the last login'))
  }
}
