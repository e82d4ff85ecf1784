import { createHash } from 'node:crypto'

export const kubeletVersion = 'v1.37.2'
const zones = ['a', 'b', 'c']
const mebibyte = 1024 ** 2

/** Returns a node as a kubelet registers it, with the size of production nodes. */
export function sampleNode(i: number, kubeletPort: number, now: Date) {
  const name = i === 0 ? 'control-plane-0' : `worker-${i}`
  const zone = `local-${zones[i % zones.length]}`
  const ip = `192.168.${Math.floor((i + 10) / 250)}.${((i + 10) % 250) + 1}`
  const large = i % 3 === 2
  const cpus = large ? 16 : 8
  const memoryKi = (large ? 65_536 : 32_768) * 1024 - 163_840
  const role = i === 0 ? 'control-plane' : 'worker'
  const resources = (cpu: string, memory: number) => ({
    cpu,
    memory: `${memory}Ki`,
    'ephemeral-storage': '103079844Ki',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    pods: '110',
  })
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'kubernetes.io/hostname': name,
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': large ? 'standard-16' : 'standard-8',
        'topology.kubernetes.io/region': 'local',
        'topology.kubernetes.io/zone': zone,
        [`node-role.kubernetes.io/${role}`]: '',
      },
      annotations: {
        'node.alpha.kubernetes.io/ttl': '0',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: {
      podCIDR: podCidr(i),
      podCIDRs: [podCidr(i)],
      providerID: `sample://${zone}/${name}`,
    },
    status: {
      capacity: resources(String(cpus), memoryKi),
      allocatable: resources(`${cpus * 1000 - 110}m`, memoryKi - 1_048_576),
      conditions: nodeConditions(now),
      addresses: [
        { type: 'InternalIP', address: ip },
        { type: 'Hostname', address: name },
        // exec and logs reach the kubelet of every sample node at this address.
        { type: 'InternalDNS', address: 'localhost' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      nodeInfo: {
        machineID: hex(name, 32),
        systemUUID: uuid(`${name}-system`),
        bootID: uuid(`${name}-boot`),
        kernelVersion: '6.12.48-cloud-amd64',
        osImage: 'Debian GNU/Linux 13 (trixie)',
        containerRuntimeVersion: 'containerd://2.2.1',
        kubeletVersion,
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: images(i),
    },
  }
}

function podCidr(i: number): string {
  return `10.${64 + ((i >> 8) & 0x3f)}.${i & 0xff}.0/24`
}

function nodeConditions(now: Date) {
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z')
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  })
  return [
    condition(
      'MemoryPressure',
      'False',
      'KubeletHasSufficientMemory',
      'kubelet has sufficient memory available',
    ),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ]
}

/** Returns the list of images, which makes up most of the size of a node. */
function images(i: number) {
  return Array.from({ length: 20 }, (_, n) => {
    const repository = `registry.example.com/platform/service-${(i + n * 7) % 60}`
    const tag = `v1.${n}.${i % 10}`
    return {
      names: [`${repository}@sha256:${hex(`${repository}:${tag}`, 64)}`, `${repository}:${tag}`],
      sizeBytes: (20 + ((i * 31 + n * 17) % 400)) * mebibyte,
    }
  })
}

/** Returns a pod of a small web application, with `nodeName`, since there is no scheduler. */
export function samplePod(i: number, node: string) {
  const app = ['web', 'api', 'queue', 'cache'][i % 4] ?? 'web'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${app}-${i}`,
      namespace: 'default',
      labels: { app, 'app.kubernetes.io/name': app, 'app.kubernetes.io/instance': `${app}-${i}` },
    },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: app,
          image: `registry.example.com/platform/${app}:v1.4.${i % 10}`,
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          resources: {
            requests: { cpu: `${100 + (i % 5) * 50}m`, memory: `${128 + (i % 4) * 64}Mi` },
            limits: { cpu: `${500 + (i % 5) * 100}m`, memory: `${512 + (i % 4) * 128}Mi` },
          },
        },
      ],
    },
  }
}

function hex(seed: string, length: number): string {
  return createHash('sha256').update(seed).digest('hex').slice(0, length)
}

function uuid(seed: string): string {
  return hex(seed, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
