import type { Identity } from '../request/identity.ts'
import type { HeaderLines } from './headers.ts'
import { encodeKey, encodeValue } from './identity-encoding.ts'

/** The headers that the published front-proxy configuration names; components read them behind the client certificate alone. */
export const remoteHeaderNames = {
  user: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
} as const

/** The caller, as kube-apiserver's aggregator tells it to servers behind it. */
export function toRemoteHeaders({ username, uid, groups, extra }: Identity): HeaderLines {
  const lines = [remoteHeaderNames.user, encodeValue(username)]
  if (uid !== '') lines.push(remoteHeaderNames.uid, encodeValue(uid))
  for (const group of groups) lines.push(remoteHeaderNames.group, encodeValue(group))
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values)
      lines.push(`${remoteHeaderNames.extraPrefix}${encodeKey(key)}`, encodeValue(value))
  }
  return lines
}
