import { randomUUID } from 'node:crypto'
import type { ClientConfig } from '../config/client.ts'
import type { Source } from '../iam/password-check.ts'
import type { User } from '../iam/user.ts'
import type { Form } from './form.ts'
import type { Granted, GrantTools } from './grant.ts'
import { lifetimesOf } from './lifetimes.ts'
import { grantScope } from './scope.ts'

export type Login = {
  readonly user: User
  readonly client: ClientConfig
  /** The identity provider that vouched for the user; '' when it was a password of ours. */
  readonly provider: string
  readonly form: Form
  readonly source: Source
}

/** Begins a login: a session of its own, and the first pair of tokens. */
export async function beginLogin(
  tools: GrantTools,
  { user, client, provider, form, source }: Login,
): Promise<Granted> {
  const sid = randomUUID()
  const requested = form.get('scope')
  const scope = grantScope(requested, client)
  const { accessTokenSeconds, refreshTokenSeconds } = lifetimesOf(client, tools.lifetimes)
  const subject = { username: user.name, groups: user.groups, sid, clientId: client.name, scope }
  const [access, refresh] = await Promise.all([
    tools.issuer.access(subject, accessTokenSeconds),
    tools.issuer.refresh(subject, refreshTokenSeconds),
  ])
  // Kept before it is given out: a token whose login is not known could never be ended.
  await tools.sessions.create({
    sid,
    type: '',
    displayName: '',
    user: user.name,
    userUid: user.uid,
    userGeneration: user.generation,
    credential: provider === '' ? user.credential : '',
    provider,
    clientId: client.name,
    scope,
    refreshId: refresh.jti,
    previousRefreshId: '',
    rotatedAtMs: Date.now(),
    expiresAtMs: refresh.expiresAt * 1000,
    ended: '',
  })
  tools.recordLogin({ user, provider, source })
  return {
    user: user.name,
    answer: {
      access_token: access.token,
      token_type: 'Bearer',
      refresh_token: refresh.token,
      expires_in: accessTokenSeconds,
      ...(requested === undefined || requested === scope ? {} : { scope }),
    },
  }
}
