import type { Io } from '../command.ts'
import { applyChanges } from '../kubeconfig/apply.ts'
import { kubeconfigFiles } from '../kubeconfig/files.ts'
import { planRemoval } from '../kubeconfig/plan-changes.ts'
import { findTarget, type ServerValues } from '../session/find-login.ts'
import { removeLogin } from '../session/login-store.ts'
import { endLogin } from '../session/revoke-login.ts'
import type { KubeconfigValues } from './options.ts'

/** Ends and deletes a login and its context, even if the server is unreachable. */
export async function remove(name: string, values: ServerValues & KubeconfigValues, io: Io): Promise<void> {
  const { server, login } = findTarget({ ...values, context: name }, io)
  if (login === undefined) throw new Error(`unknown login ${JSON.stringify(name)} at ${server.url}`)
  if (!values['no-kubeconfig']) {
    const paths = kubeconfigFiles(io.env, values.kubeconfig)
    await applyChanges(paths, config => planRemoval(config, name, login.url), io)
  }
  try {
    await endLogin(login, server.ca, io)
  } catch (error) {
    if (io.signal.aborted) throw error
    const why = error instanceof Error ? error.message : String(error)
    io.err(`${why}; its tokens are valid until they expire.\n`)
    removeLogin(io.env, login)
  }
  io.err(`Removed the login ${JSON.stringify(name)} at ${server.url}.\n`)
}
