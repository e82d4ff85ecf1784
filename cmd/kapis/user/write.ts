import { UsageError } from '../command.ts'
import { parseJson } from '../session/http.ts'
import { createPrompt } from '../session/prompt.ts'
import { type Call, pathOf, tell } from './call.ts'

export async function create(call: Call, name: string): Promise<void> {
  const { platform, domain, values, io } = call
  if (values.email === undefined) throw new UsageError('create needs --email')
  const password = values['no-password'] ? undefined : await createPrompt(io)(`Password of ${name}: `)
  const annotations = values['must-change-password'] ? { [`iam.${domain}/uninitialized`]: 'true' } : {}
  const body = {
    apiVersion: `iam.${domain}/v1alpha2`,
    kind: 'User',
    metadata: { name, annotations },
    spec: {
      email: values.email,
      displayName: values['display-name'],
      lang: values.lang,
      groups: values.group,
      password,
    },
  }
  const made = await platform.call('cannot make the user', pathOf(call), {
    method: 'POST',
    body: JSON.stringify(body),
  })
  tell(call, parseJson(made), `user ${name} was made`)
}

export async function setState(call: Call, name: string, state: string, done: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}/status`)
  const body = JSON.stringify({ status: { state } })
  tell(
    call,
    parseJson(await call.platform.call('cannot change the user', path, { method: 'PUT', body })),
    `user ${name} is ${done}`,
  )
}

/** A lock is no lasting decision; what an administrator has disabled is not enabled by it. */
export async function unlock(call: Call, name: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}`)
  const { status } = parseJson(await call.platform.call('cannot read the user', path))
  if (Object(status).state === 'Disabled')
    throw new Error(`user ${name} is disabled and not locked; \`kapis user enable ${name}\` would enable`)
  await setState(call, name, 'Active', 'unlocked')
}

export async function setPassword(call: Call, name: string): Promise<void> {
  const { platform, values, io } = call
  const ask = createPrompt(io)
  const currentPassword = values.own ? await ask('Current password: ') : undefined
  const password = await ask(`New password of ${name}: `)
  const path = pathOf(call, `/${encodeURIComponent(name)}/password`)
  const body = JSON.stringify({ currentPassword, password })
  const answer = await platform.call('cannot set the password', path, { method: 'PUT', body })
  tell(call, parseJson(answer), `user ${name} has another password; every login has ended`)
}

export async function remove(call: Call, name: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}`)
  const answer = await call.platform.call('cannot remove the user', path, { method: 'DELETE' })
  tell(call, parseJson(answer), `user ${name} was removed`)
}
