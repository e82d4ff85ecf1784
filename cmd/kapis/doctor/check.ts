import { orUndefined } from '../../../pkg/apierrors/status.ts'
import type { Config } from '../../../pkg/config/config.ts'
import type { KubeClient } from '../../../pkg/kubeclient/client.ts'
import { isKubeObject, type KubeObject } from '../../../pkg/kubeclient/object/object.ts'

/** A problem, and how to fix it. */
export type Finding = {
  /** `error`: it does not work. `warning`: it will soon not work, or could not be checked. */
  readonly severity: 'error' | 'warning'
  readonly problem: string
  readonly fix: string
}

export type Installation = {
  /** A client of kube-apiserver with the credentials of the user who runs the doctor. */
  readonly client: KubeClient
  readonly groupDomain: string
  readonly namespace: string
  readonly service: { readonly name: string; readonly port: number }
  /** The configuration of the programs; undefined if it was not found. */
  readonly config: Config | undefined
  /** The address of kapis-apiserver from this machine; '' to reach it through kube-apiserver. */
  readonly url: string
  /** An access token to check; '' for none. */
  readonly token: string
  readonly nowMs: number
}

export type Check = {
  readonly name: string
  readonly examine: (installation: Installation) => Promise<readonly Finding[]>
}

/**
 * The command that applies the manifests again. NAME must be the installed overlay: another overlay
 * would change the installation.
 */
export const print = 'kapis manifests --overlay NAME | kubectl apply -f -'
export const apply = `apply the manifests again, with the options of the installation: ${print}`

/** Returns the fix if the Pods do not receive packets from the control plane. */
export function openPort({ namespace, config }: Installation): string {
  const port = config?.listen.port ?? 10250
  return `kube-apiserver cannot reach the Pods: open their port ${port} to the control plane (firewall, security group, NetworkPolicy), or check whether they are running: kubectl -n ${namespace} get pods`
}

export function error(problem: string, fix: string): Finding {
  return { severity: 'error', problem, fix }
}

export function warning(problem: string, fix: string): Finding {
  return { severity: 'warning', problem, fix }
}

/** Reads an object. @returns undefined if the object or its kind does not exist */
export async function read(client: KubeClient, path: string): Promise<KubeObject | undefined> {
  const object = await orUndefined(client.call({ path }), 404)
  return isKubeObject(object) ? object : undefined
}
