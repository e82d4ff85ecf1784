import type { Io } from '../command.ts'
import { applyChanges } from '../kubeconfig/apply.ts'
import { kubeconfigFiles, loadKubeconfig } from '../kubeconfig/files.ts'
import { planUse } from '../kubeconfig/plan-changes.ts'
import { findTarget, type ServerValues } from '../session/find-login.ts'
import { writeCurrent } from '../session/login-store.ts'
import type { KubeconfigValues } from './options.ts'

/** Makes a login current, and its context the current context of kubectl. */
export async function use(name: string, values: ServerValues & KubeconfigValues, io: Io): Promise<void> {
  const { server, login } = findTarget({ ...values, context: name }, io)
  if (login === undefined) throw new Error(`unknown login ${JSON.stringify(name)} at ${server.url}`)
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
