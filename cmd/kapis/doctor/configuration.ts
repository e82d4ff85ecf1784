import { type Config, parseConfig } from '../../../pkg/config/config.ts'
import { ConfigError } from '../../../pkg/config/config-error.ts'
import { withEnvironment } from '../../../pkg/config/env.ts'
import type { KubeClient } from '../../../pkg/kubeclient/client.ts'
import { fieldsOf, itemsOf, textOf } from '../../../pkg/kubeclient/object/object.ts'
import { parseYaml } from '../../../pkg/yaml/read.ts'
import { apply, error, type Finding, read } from './check.ts'

export type Configuration = { readonly config: Config | undefined; readonly findings: readonly Finding[] }

/** Reads the configuration of the Pods: the ConfigMap or Secret, and the environment. */
export async function readConfiguration(client: KubeClient, namespace: string): Promise<Configuration> {
  const deployment = await read(client, `/apis/apps/v1/namespaces/${namespace}/deployments/kapis`)
  const pod = fieldsOf(fieldsOf(fieldsOf(deployment?.spec).template).spec)
  const source = itemsOf(pod.volumes)
    .map(toSource)
    .find(one => one !== undefined)
  // Without Pods, Kapis runs outside the cluster, and so its configuration is not in the cluster.
  if (source === undefined) return { config: undefined, findings: [] }
  const { kind, name } = source
  const object = await read(client, `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`)
  if (object === undefined)
    return { config: undefined, findings: [error(`the ${kind} ${namespace}/${name} is missing`, apply)] }
  const container = itemsOf(pod.containers).map(fieldsOf)[0]
  const variables = itemsOf(container?.env).map(fieldsOf)
  const env = Object.fromEntries(variables.map(variable => [textOf(variable.name), textOf(variable.value)]))
  try {
    const text = textOf(fieldsOf(object.data)['kapis.yaml'])
    const file: unknown = parseYaml(kind === 'Secret' ? Buffer.from(text, 'base64').toString('utf8') : text)
    return { config: parseConfig(withEnvironment(file, env)).config, findings: [] }
  } catch (cause) {
    const problems =
      cause instanceof ConfigError ? cause.problems : [{ path: 'kapis.yaml', message: 'is not valid YAML' }]
    const edit =
      kind === 'Secret'
        ? `correct kapis.yaml in the Secret ${name}`
        : `kubectl -n ${namespace} edit configmap ${name}`
    const fix = `${edit}, then: kubectl -n ${namespace} rollout restart deployment kapis`
    return {
      config: undefined,
      findings: problems.map(({ path, message }) => error(`${name}: ${path}: ${message}`, fix)),
    }
  }
}

/** Returns the source of the volume `config`: a ConfigMap, or a Secret with passwords. */
function toSource(
  volume: unknown,
): { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string } | undefined {
  const { name, configMap, secret } = fieldsOf(volume)
  if (name !== 'config') return undefined
  const [ofMap, ofSecret] = [textOf(fieldsOf(configMap).name), textOf(fieldsOf(secret).secretName)]
  if (ofMap !== '') return { kind: 'ConfigMap', name: ofMap }
  return ofSecret === '' ? undefined : { kind: 'Secret', name: ofSecret }
}
