import { parse } from 'yaml'
import { type Config, ConfigError, parseConfig } from '../../../pkg/config/config.ts'
import { withEnvironment } from '../../../pkg/config/env.ts'
import type { KubeClient } from '../../../pkg/kube/client.ts'
import { itemsOf, membersOf, textOf } from '../../../pkg/kube/object.ts'
import { apply, error, type Finding, read } from './check.ts'

export type Configuration = { readonly config: Config | undefined; readonly findings: readonly Finding[] }

/** The configuration as the Pods read it: the ConfigMap that the Deployment mounts, and its environment over it. */
export async function readConfiguration(client: KubeClient, namespace: string): Promise<Configuration> {
  const deployment = await read(client, `/apis/apps/v1/namespaces/${namespace}/deployments/kapis`)
  const pod = membersOf(membersOf(membersOf(deployment?.spec).template).spec)
  const names = itemsOf(pod.volumes).map(volume => textOf(membersOf(membersOf(volume).configMap).name))
  const name = names.find(text => text !== '')
  // No Pods in this cluster: what runs beside it has its configuration there.
  if (name === undefined) return { config: undefined, findings: [] }
  const configMap = await read(client, `/api/v1/namespaces/${namespace}/configmaps/${name}`)
  if (configMap === undefined) {
    return {
      config: undefined,
      findings: [error(`the ConfigMap ${namespace}/${name} is missing`, apply)],
    }
  }
  const front = itemsOf(pod.containers).map(membersOf)[0]
  const variables = itemsOf(front?.env).map(membersOf)
  const env = Object.fromEntries(variables.map(variable => [textOf(variable.name), textOf(variable.value)]))
  try {
    const file: unknown = parse(textOf(membersOf(configMap.data)['kapis.yaml']))
    return { config: parseConfig(withEnvironment(file, env)).config, findings: [] }
  } catch (cause) {
    const problems =
      cause instanceof ConfigError ? cause.problems : [{ path: 'kapis.yaml', message: 'is no YAML' }]
    const mend = `kubectl -n ${namespace} edit configmap ${name}, then: kubectl -n ${namespace} rollout restart deployment kapis`
    return {
      config: undefined,
      findings: problems.map(({ path, message }) => error(`${name}: ${path}: ${message}`, mend)),
    }
  }
}
