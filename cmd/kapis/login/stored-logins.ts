import type { Io } from '../command.ts'
import { applyChanges } from '../kubeconfig/apply.ts'
import { kubeconfigFiles, loadKubeconfig } from '../kubeconfig/files.ts'
import { planRemoval, planUse } from '../kubeconfig/plan-changes.ts'
import { findTarget, type ServerValues } from '../session/find-login.ts'
import { listLogins, readCurrent, removeLogin, writeCurrent } from '../session/login-store.ts'
import { revokeLogin } from '../session/revoke-login.ts'
import { toTable } from '../session/table.ts'
import type { KubeconfigValues } from './options.ts'

/** Ends and deletes a login and its context, even if the server is unreachable. */
export async function remove(name: string, values: ServerValues & KubeconfigValues, io: Io): Promise<void> {
  const { server, login } = findStored(name, values, io)
  if (!values['no-kubeconfig']) {
    const paths = kubeconfigFiles(io.env, values.kubeconfig)
    await applyChanges(paths, config => planRemoval(config, name, login.url), io)
  }
  try {
    await revokeLogin(login, server.ca, io)
  } catch (error) {
    if (io.signal.aborted) throw error
    const why = error instanceof Error ? error.message : String(error)
    io.err(`${why}; its tokens are valid until they expire.\n`)
    removeLogin(io.env, login)
  }
  io.err(`Removed the login ${JSON.stringify(name)} at ${server.url}.\n`)
}

/** Makes a login current, and its context the current context of kubectl. */
export async function use(name: string, values: ServerValues & KubeconfigValues, io: Io): Promise<void> {
  const { server, login } = findStored(name, values, io)
  writeCurrent(io.env, login)
  io.err(`The current login is ${JSON.stringify(name)} at ${server.url}.\n`)
  if (values['no-kubeconfig']) return
  const paths = kubeconfigFiles(io.env, values.kubeconfig)
  const isThere = planUse(loadKubeconfig(paths), name, login.url).size > 0
  await applyChanges(paths, config => planUse(config, name, login.url), io)
  io.err(
    isThere
      ? `kubectl uses its context.\n`
      : `It has no context in the kubeconfig; the current context of kubectl is unchanged.\n`,
  )
}

/** Prints the stored logins, without their tokens. */
export function list(output: string, { env, out, err }: Io): void {
  const current = readCurrent(env)
  const logins = listLogins({ env, err }).map(({ name, username, url, expiresAtMs }) => ({
    name,
    user: username,
    server: url,
    tokenExpires: new Date(expiresAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    isCurrent: current?.url === url && current.name === name,
  }))
  if (output === 'json') out(`${JSON.stringify(logins, null, 2)}\n`)
  else if (logins.length === 0) err('No logins: run `kapis login --server URL`.\n')
  else {
    const rows = logins.map(each => [
      each.isCurrent ? '*' : '',
      each.name,
      each.user,
      each.server,
      each.tokenExpires,
    ])
    out(toTable([['CURRENT', 'NAME', 'USER', 'SERVER', 'TOKEN EXPIRES'], ...rows]))
  }
}

function findStored(name: string, values: ServerValues, io: Io) {
  const { server, login } = findTarget({ ...values, context: name }, io)
  if (login === undefined) throw new Error(`unknown login ${JSON.stringify(name)} at ${server.url}`)
  return { server, login }
}
