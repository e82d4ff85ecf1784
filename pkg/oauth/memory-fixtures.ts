import { Status } from '../apierrors/status.ts'
import { defaultClient } from '../config/sections/built-in-clients.ts'
import type { ClientConfig } from '../config/sections/client.ts'
import type { AccountLinking } from '../iam/identityprovider/linking/account-linking.ts'
import { loginError } from '../iam/identityprovider/linking/login-error.ts'
import type { DeviceAuthorization } from '../iam/sessions/device-authorization.ts'
import type { NewSession, Session } from '../iam/sessions/session.ts'
import { memoryUser } from '../iam/users/fixtures.ts'
import type { User } from '../iam/users/user.ts'
import type { GrantTools } from './tokens/grant.ts'

export { memoryUser } from '../iam/users/fixtures.ts'

export function memorySessions() {
  const sessions = new Map<string, Session>()
  let version = 0
  return {
    sessions,
    async create(session: NewSession) {
      if (sessions.has(session.sid)) throw new Status(409, 'AlreadyExists', 'it exists')
      const stored = { ...session, createdAtMs: Date.now(), resourceVersion: String(++version) }
      sessions.set(session.sid, stored)
      return stored
    },
    async list(user: string) {
      return [...sessions.values()].filter(session => session.user === user)
    },
    isRevoked: (sid: string) => sessions.get(sid)?.ended !== '',
    async read(sid: string) {
      return sessions.get(sid)
    },
    async update(session: Session) {
      if (sessions.get(session.sid)?.resourceVersion !== session.resourceVersion) return false
      sessions.set(session.sid, { ...session, resourceVersion: String(++version) })
      return true
    },
  }
}

export function memoryDevices(): GrantTools['devices'] {
  const devices = new Map<string, DeviceAuthorization>()
  const noUser = { user: '', userUid: '', provider: '', authTime: 0, amr: '', browserSid: '', sid: '' }
  return {
    async create(device) {
      devices.set(device.name, { ...device, ...noUser, decision: '', resourceVersion: '1' })
    },
    async read(name) {
      const device = devices.get(name)
      return device === undefined || device.expiresAtMs < Date.now() ? undefined : device
    },
    async update(device) {
      if (devices.get(device.name)?.resourceVersion !== device.resourceVersion) return false
      devices.set(device.name, { ...device, resourceVersion: `${device.resourceVersion}1` })
      return true
    },
    async remove(name) {
      devices.delete(name)
    },
  }
}

export function memoryClient(name: string, changes: Partial<ClientConfig> = {}): ClientConfig {
  return { ...defaultClient, name, ...changes }
}

/** Links accounts of identity providers to users in memory, by the uid of the account. */
export function memoryLinking(users: Map<string, User>): AccountLinking {
  return {
    async findOrCreate(config, identity) {
      const user = users.get(identity.uid)
      if (user !== undefined) return { user }
      return {
        registration: {
          config,
          identity,
          wants: config.mappingMethod === 'manual' ? 'link' : 'confirmation',
        },
      }
    },
    findLinked: (_config, uid) => users.get(uid),
    async register({ identity }, name) {
      if (users.has(name))
        throw loginError('user_name_taken', `the user name ${name} is taken; choose another one`)
      if (users.has(identity.uid))
        throw loginError('user_already_linked', 'a user was created for this account in the meantime')
      const user = memoryUser(name, { email: identity.email, inlineHash: undefined, credential: '' })
      users.set(name, user).set(identity.uid, user)
      return user
    },
    async link({ identity }, user) {
      if (users.has(identity.uid))
        throw loginError('user_already_linked', 'a user was created for this account in the meantime')
      users.set(identity.uid, user)
      return user
    },
  }
}
