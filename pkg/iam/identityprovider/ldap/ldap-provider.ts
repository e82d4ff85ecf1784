import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Client,
  ConstraintViolationError,
  InappropriateAuthError,
  InsufficientAccessError,
  InvalidCredentialsError,
  NoSuchObjectError,
  UnwillingToPerformError,
} from 'ldapts'
import { Status } from '../../../apierrors/status.ts'
import type { Identity, PasswordProvider } from '../external-identity.ts'
import { loginError, providerFailed } from '../linking/login-error.ts'
import type { LdapConfig } from './ldap-config.ts'
import { withDirectory } from './ldap-connection.ts'
import { findEntry, type LdapEntry } from './ldap-entry.ts'
import { findGroups } from './ldap-groups.ts'

type Credential = { readonly username: string; readonly password: string }

const maxLength = { username: 256, password: 1024 }
// Unknown names are rejected faster than wrong passwords, so rejections take at least this.
const refusedAfterMs = 300

/**
 * Authenticates users against an LDAP server, on one connection: binds as manager to search the
 * entry, binds as the entry to check the password, and binds as manager again to search the groups.
 */
export function createLdapProvider(config: LdapConfig): PasswordProvider {
  const { managerDn, managerPassword } = config

  async function bindManager(client: Client): Promise<void> {
    if (managerDn !== '') await client.bind(managerDn, managerPassword)
    // RFC 4513 section 5.1.1: an anonymous bind ends the previous bind of the connection.
    else if (client.isBound) await client.bind('', '')
  }

  async function check(
    client: Client,
    { username, password }: Credential,
    found: (uid: string) => void,
  ): Promise<Identity> {
    await bindManager(client)
    const entry = await findEntry(client, config, { attribute: config.loginAttribute, value: username })
    if (entry === 'several') throw loginError('ambiguous_user', 'incorrect password')
    if (entry !== 'none') found(uidOf(config, entry) ?? '')
    // Unknown names also cause a bind, so that they take about as long as a wrong password.
    const dn = entry === 'none' ? `cn=${randomUUID()},${config.userSearchBase}` : entry.dn
    const isRight = await tryPassword(client, dn, password)
    if (entry === 'none') throw loginError('unknown_user', 'incorrect password')
    if (!isRight) throw loginError('wrong_password', 'incorrect password')
    await bindManager(client)
    return { ...(await toIdentity(client, config, entry)), amr: 'pwd' }
  }

  return {
    kind: 'password',
    async authenticate(credential, signal, found) {
      const { username, password } = credential
      // Rejected, since a bind with an empty password succeeds for any name (RFC 4513).
      if (password === '' || password.length > maxLength.password)
        throw loginError('wrong_password', 'incorrect password')
      if (username === '' || username.length > maxLength.username || username.includes('\0'))
        throw loginError('unknown_user', 'incorrect password')
      const notBefore = sleep(refusedAfterMs)
      try {
        return await withDirectory(config, signal, client => check(client, credential, found))
      } catch (error) {
        await notBefore
        throw error instanceof Status ? error : providerFailed(error)
      }
    },
    async find(uid, signal) {
      try {
        return await withDirectory(config, signal, async client => {
          await bindManager(client)
          const entry = await findEntry(client, config, { attribute: config.uidAttribute, value: uid })
          return typeof entry === 'string' ? undefined : toIdentity(client, config, entry)
        })
      } catch (error) {
        throw error instanceof Status ? error : providerFailed(error)
      }
    },
  }
}

/** Returns the only value that identifies the user: users may be able to add values. */
function uidOf({ uidAttribute }: LdapConfig, entry: LdapEntry): string | undefined {
  const [uid, ...others] = entry.values(uidAttribute)
  return uid === '' || others.length > 0 ? undefined : uid
}

async function tryPassword(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password)
    return true
  } catch (error) {
    if (isInvalidCredentials(error)) return false
    throw error
  }
}

/** Reports whether an error rejects the credentials: servers use different codes for that. */
function isInvalidCredentials(error: unknown): boolean {
  return (
    error instanceof InvalidCredentialsError ||
    error instanceof InappropriateAuthError ||
    error instanceof NoSuchObjectError ||
    error instanceof ConstraintViolationError ||
    error instanceof UnwillingToPerformError ||
    error instanceof InsufficientAccessError
  )
}

async function toIdentity(client: Client, config: LdapConfig, entry: LdapEntry): Promise<Identity> {
  const { uidAttribute, loginAttribute, mailAttribute, displayNameAttribute } = config
  const uid = uidOf(config, entry)
  if (uid === undefined)
    throw loginError('user_without_uid', `the LDAP entry must have exactly one value for ${uidAttribute}`)
  return {
    uid,
    username: entry.values(loginAttribute)[0] ?? uid,
    email: entry.values(mailAttribute)[0] ?? '',
    displayName: entry.values(displayNameAttribute)[0] ?? '',
    groups: await findGroups(client, config, entry),
  }
}
