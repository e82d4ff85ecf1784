import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Io } from './command.ts'

/**
 * Returns the kubeconfig that kubectl would use; '' without one, which means the service account of
 * the Pod.
 */
export function findKubeconfig({ env }: Io): string {
  // kubectl merges a list of files; here the first existing one is used.
  const named = (env.KUBECONFIG ?? '').split(':').find(file => file !== '' && existsSync(file))
  const usual = join(homedir(), '.kube/config')
  return named ?? (existsSync(usual) ? usual : '')
}
