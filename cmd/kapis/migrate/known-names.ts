import { isRecord } from '../../../pkg/kubeclient/object/object.ts'
import type { Fields } from './kubesphere-configuration.ts'

/** Names in sections that Kapis takes over as they are. */
const ofProviders = [
  ...['name', 'type', 'mappingMethod', 'disableLoginConfirmation', 'provider', 'endpoint', 'scopes'],
  ...['clientID', 'clientSecret', 'redirectURL', 'issuer', 'getUserInfo', 'emailKey', 'preferredUsernameKey'],
  ...['authURL', 'tokenURL', 'userInfoURL', 'jwksURL', 'endSessionURL', 'insecureSkipVerify', 'readTimeout'],
  ...['host', 'startTLS', 'rootCA', 'rootCAData', 'managerDN', 'managerPassword', 'loginAttribute'],
  ...['userSearchBase', 'userSearchFilter', 'groupSearchBase', 'groupSearchFilter', 'mailAttribute'],
  ...['userMemberAttribute', 'groupMemberAttribute'],
]

/** Returns a configuration with the usual case of all keys, which KubeSphere ignores. */
export function withKnownNames(source: Fields, others: readonly string[]): Fields {
  const known = new Map([...others, ...ofProviders].map(name => [name.toLowerCase(), name]))
  const nameOf = (key: string) => known.get(key.toLowerCase()) ?? key
  function rename(value: unknown): unknown {
    return Array.isArray(value) ? value.map(rename) : isRecord(value) ? renamed(value) : value
  }
  function renamed(fields: Fields): Fields {
    const entries = Object.entries(fields)
      // The usual name takes precedence over the same name in another case.
      .filter(([key]) => nameOf(key) === key || !Object.hasOwn(fields, nameOf(key)))
    return Object.fromEntries(entries.map(([key, value]) => [nameOf(key), rename(value)]))
  }
  return renamed(source)
}
