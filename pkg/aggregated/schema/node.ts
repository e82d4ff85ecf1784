import { nodeStatusSchemas } from './node-status.ts'
import { array, boolean, object, ref, type Schemas, string, time } from './schema.ts'

/** The orchestrator's v1 Node. `metadata`, `apiVersion` and `kind` are added to it as to every kind. */
export const nodeSchemas: Schemas = {
  Node: object('A machine that runs pods, as the orchestrator knows it.', {
    spec: ref('NodeSpec', 'How the node is meant to be.'),
    status: ref('NodeStatus', 'How the node is, as its kubelet last reported.'),
  }),
  NodeSpec: object('How a node is meant to be.', {
    podCIDR: string('Range of IP addresses for the pods of the node.'),
    podCIDRs: array('Ranges of IP addresses for pods, at most one of each IP family.', { type: 'string' }),
    providerID: string('Identity of the machine at its cloud provider.'),
    unschedulable: boolean('Whether new pods are kept off the node (cordoned).'),
    taints: array('Marks that repel pods that do not tolerate them.', ref('Taint')),
    configSource: ref('NodeConfigSource', 'No longer in use: where the kubelet took its configuration from.'),
    externalID: string('No longer in use.'),
  }),
  Taint: object(
    'Repels pods that do not tolerate it.',
    {
      key: string('Key of the taint.'),
      value: string('Value of the taint.'),
      effect: string(
        'What becomes of pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute.',
      ),
      timeAdded: time('When the taint was added.'),
    },
    ['key', 'effect'],
  ),
  NodeConfigSource: object('No longer in use: where the configuration of a kubelet lies.', {
    configMap: ref('ConfigMapNodeConfigSource', 'A ConfigMap that holds the configuration.'),
  }),
  ConfigMapNodeConfigSource: object(
    'No longer in use: a ConfigMap with the configuration of a kubelet.',
    {
      namespace: string('Namespace of the ConfigMap.'),
      name: string('Name of the ConfigMap.'),
      uid: string('UID of the ConfigMap.'),
      resourceVersion: string('Version of the ConfigMap.'),
      kubeletConfigKey: string('Key in the ConfigMap under which the configuration lies.'),
    },
    ['namespace', 'name', 'kubeletConfigKey'],
  ),
  ...nodeStatusSchemas,
}
