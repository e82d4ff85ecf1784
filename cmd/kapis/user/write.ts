import { UsageError } from '../command.ts'
import { Prompt } from '../session/prompt.ts'
import { type Call, pathOf, printResult } from './call.ts'

export async function create(call: Call, name: string): Promise<void> {
  const { platform, domain, values, io } = call
  if (values.email === undefined) throw new UsageError('create needs --email')
  const password = values['no-password']
    ? undefined
    : await Prompt.with(io, prompt => prompt.newPassword(`Password of ${name}: `))
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
  const made = await platform.call('create the user', pathOf(call), { method: 'POST', body })
  printResult(call, made, `user ${name} created`)
}

export async function setState(call: Call, name: string, state: string, done: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}/status`)
  const body = { status: { state } }
  const changed = await call.platform.call('change the user', path, { method: 'PUT', body })
  printResult(call, changed, `user ${name} is ${done}`)
}

/** Unlocks a user after wrong passwords. Rejects users whom an administrator has disabled. */
export async function unlock(call: Call, name: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}`)
  const { status } = await call.platform.call('read the user', path)
  if (Object(status).state === 'Disabled')
    throw new Error(`user ${name} is disabled, not locked: run \`kapis user enable ${name}\``)
  await setState(call, name, 'Active', 'unlocked')
}

export async function setPassword(call: Call, name: string): Promise<void> {
  const { platform, values, io } = call
  const { currentPassword, password } = await Prompt.with(io, async prompt => ({
    currentPassword: values.own ? await prompt.password('Current password: ') : undefined,
    password: await prompt.newPassword(`New password of ${name}: `),
  }))
  const path = pathOf(call, `/${encodeURIComponent(name)}/password`)
  const body = { currentPassword, password }
  const response = await platform.call('set the password', path, { method: 'PUT', body })
  printResult(call, response, `password of user ${name} changed; all their logins have ended`)
}

export async function remove(call: Call, name: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}`)
  const response = await call.platform.call('delete the user', path, { method: 'DELETE' })
  printResult(call, response, `user ${name} deleted`)
}

export async function resetFactors(call: Call, name: string): Promise<void> {
  const path = pathOf(call, `/${encodeURIComponent(name)}/factors`)
  const response = await call.platform.call('reset the second factors', path, { method: 'DELETE' })
  printResult(call, response, `second factors of user ${name} removed; all their logins have ended`)
}
