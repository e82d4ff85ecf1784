import { serverOptions } from '../session/server-address.ts'

export const loginOptions = {
  ...serverOptions,
  username: { type: 'string', short: 'u' },
  device: { type: 'boolean', default: false },
  'no-browser': { type: 'boolean', default: false },
  'exec-credential': { type: 'boolean', default: false },
  issuer: { type: 'string' },
  'client-id': { type: 'string' },
  'client-secret': { type: 'string' },
  kubeconfig: { type: 'string' },
  'no-kubeconfig': { type: 'boolean', default: false },
  overwrite: { type: 'boolean', default: false },
  'kube-server': { type: 'string' },
  'kube-ca': { type: 'string' },
  output: { type: 'string', short: 'o', default: '' },
} as const

/** The options that select the kubeconfig files. */
export type KubeconfigValues = {
  readonly kubeconfig?: string | undefined
  readonly 'no-kubeconfig': boolean
}
