import { kubeletVersion } from './sample-objects.ts'

type Expression = readonly [key: string, operator: string, ...values: string[]]
type Stage = { name: string; kind: string; when: readonly Expression[]; spec: object }

const ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
const deleted = '.metadata.deletionTimestamp'
const phase = '.status.phase'

/** Returns the stages of sample objects, with their delays. */
export function stages(heartbeatMs: number): Stage[] {
  return [
    {
      // Sample nodes are created with a complete status; this stage is for nodes that a user or
      // test creates by name only.
      name: 'node-initialize',
      kind: 'Node',
      when: [[ready, 'NotIn', 'True']],
      spec: { next: { statusTemplate: `${conditions}${identity}` } },
    },
    {
      name: 'node-heartbeat',
      kind: 'Node',
      when: [[ready, 'In', 'True']],
      spec: {
        delay: { durationMilliseconds: heartbeatMs, jitterDurationMilliseconds: heartbeatMs * 2 },
        next: { statusTemplate: conditions },
        immediateNextStage: true,
      },
    },
    {
      name: 'pod-ready',
      kind: 'Pod',
      when: [
        [deleted, 'DoesNotExist'],
        [phase, 'In', 'Pending'],
        [ready, 'NotIn', 'True'],
      ],
      spec: { next: replaceStatus(running) },
    },
    {
      name: 'pod-complete',
      kind: 'Pod',
      when: [
        [deleted, 'DoesNotExist'],
        [phase, 'In', 'Running'],
        ['.metadata.ownerReferences.[].kind', 'In', 'Job'],
      ],
      spec: { next: replaceStatus(completed) },
    },
    {
      name: 'pod-delete',
      kind: 'Pod',
      when: [[deleted, 'Exists']],
      spec: { next: { delete: true } },
    },
  ]
}

/** Returns a merge patch of the status: a strategic one rejects duplicate addresses. */
function replaceStatus(template: string): object {
  return { patches: [{ subresource: 'status', root: 'status', type: 'merge', template }] }
}

const conditions = `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ or $.metadata.creationTimestamp $now | Quote }}
{{ end }}
`

const identity = `
addresses:
- { type: InternalIP, address: {{ NodeIP | Quote }} }
- { type: Hostname, address: {{ NodeName | Quote }} }
daemonEndpoints:
  kubeletEndpoint: { Port: {{ NodePort }} }
{{ if not .status.capacity }}
capacity: { cpu: "8", memory: 32Gi, pods: "110" }
allocatable: { cpu: "8", memory: 32Gi, pods: "110" }
{{ end }}
{{ if not .status.nodeInfo.kubeletVersion }}
nodeInfo:
  architecture: amd64
  bootID: ""
  containerRuntimeVersion: containerd://2.2.1
  kernelVersion: 6.12.48-cloud-amd64
  kubeProxyVersion: ""
  kubeletVersion: ${kubeletVersion}
  machineID: ""
  operatingSystem: linux
  osImage: Debian GNU/Linux 13 (trixie)
  systemUUID: ""
{{ end }}
`

const running = `
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
conditions:
{{ range $type := list "PodScheduled" "Initialized" "ContainersReady" "Ready" }}
- { type: {{ $type }}, status: "True", lastTransitionTime: {{ $now | Quote }} }
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  started: true
  restartCount: 0
  state: { running: { startedAt: {{ $now | Quote }} } }
{{ end }}
hostIP: {{ index (NodeIPsWith .spec.nodeName) 0 | Quote }}
{{ $ips := PodIPsWith .spec.nodeName (or .spec.hostNetwork false) (or .metadata.uid "") (or .metadata.name "") (or .metadata.namespace "") }}
podIP: {{ index $ips 0 | Quote }}
podIPs:
{{ range $ips }}
- ip: {{ . | Quote }}
{{ end }}
`

const completed = `
{{ $now := Now }}
phase: Succeeded
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  started: false
  restartCount: 0
  state:
    terminated: { exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }} }
{{ end }}
`
