import { execFileSync } from 'node:child_process'

/** Creates a token of an administrator, which kube-apiserver and Kapis accept. */
export function createAdminToken(kubectl: string, env: NodeJS.ProcessEnv): string {
  const run = (...args: readonly string[]) => execFileSync(kubectl, args, { env, encoding: 'utf8' }).trim()
  const [namespace, name] = ['kube-system', 'kapis-tests']
  run('create', 'serviceaccount', name, '--namespace', namespace)
  run(
    'create',
    'clusterrolebinding',
    name,
    '--clusterrole=cluster-admin',
    `--serviceaccount=${namespace}:${name}`,
  )
  return run('create', 'token', name, '--namespace', namespace, '--duration=12h')
}
