import { array, boolean, integer, map, object, ref, type Schemas, string, time } from './schema.ts'

export const nodeStatusSchemas: Schemas = {
  NodeStatus: object('How a node is.', {
    capacity: map('All of each resource that the node has.', ref('Quantity')),
    allocatable: map(
      'What of each resource pods can have: the capacity without what is reserved for the system.',
      ref('Quantity'),
    ),
    phase: string('No longer in use: Pending, Running or Terminated.'),
    conditions: array('What has been observed of the health of the node.', ref('NodeCondition')),
    addresses: array('Where the node can be reached.', ref('NodeAddress')),
    daemonEndpoints: ref('NodeDaemonEndpoints', 'Ports of the daemons on the node.'),
    nodeInfo: ref('NodeSystemInfo', 'Identity and software of the node.'),
    images: array('Container images on the node, the largest first.', ref('ContainerImage')),
    volumesInUse: array('Attachable volumes that the node has mounted or mounts.', { type: 'string' }),
    volumesAttached: array('Volumes that are attached to the node.', ref('AttachedVolume')),
    config: ref(
      'NodeConfigStatus',
      'No longer in use: state of the configuration given by spec.configSource.',
    ),
    runtimeHandlers: array('Runtime handlers that the container runtime offers.', ref('NodeRuntimeHandler')),
    features: ref('NodeFeatures', 'What the container runtime can do.'),
    declaredFeatures: array('Features that the kubelet declares for scheduling.', { type: 'string' }),
  }),
  Quantity: string('A number with an optional suffix: 250m is a quarter, 1Ki is 1024, 1k is 1000.'),
  NodeCondition: object(
    'One finding about the health of a node.',
    {
      type: string('What is observed, such as Ready, MemoryPressure, DiskPressure or PIDPressure.'),
      status: string('Whether it is so: True, False or Unknown.'),
      lastHeartbeatTime: time('When it was last observed.'),
      lastTransitionTime: time('When the status last changed.'),
      reason: string('Why the status last changed, in one word for programs.'),
      message: string('Why the status last changed, for people.'),
    },
    ['type', 'status'],
  ),
  NodeAddress: object(
    'An address of a node.',
    {
      type: string('Sort of address: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.'),
      address: string('The address.'),
    },
    ['type', 'address'],
  ),
  NodeDaemonEndpoints: object('Ports of the daemons on a node.', {
    kubeletEndpoint: ref('DaemonEndpoint', 'Where the kubelet listens.'),
  }),
  DaemonEndpoint: object('Where a daemon listens.', { Port: integer('Port number.', 'int32') }, ['Port']),
  NodeSystemInfo: object(
    'Identity and software of a node.',
    {
      machineID: string('Id of the machine within the cluster, from /etc/machine-id.'),
      systemUUID: string('Id of the machine, from its firmware.'),
      bootID: string('Id that changes with each boot.'),
      kernelVersion: string('Version of the kernel.'),
      osImage: string('Name and version of the operating system.'),
      containerRuntimeVersion: string('Name and version of the container runtime.'),
      kubeletVersion: string('Version of the kubelet.'),
      kubeProxyVersion: string('No longer in use: version of kube-proxy.'),
      operatingSystem: string('Operating system, such as linux or windows.'),
      architecture: string('Architecture of the processor, such as amd64 or arm64.'),
      swap: ref('NodeSwapStatus', 'Swap space of the node.'),
    },
    [
      'machineID',
      'systemUUID',
      'bootID',
      'kernelVersion',
      'osImage',
      'containerRuntimeVersion',
      'kubeletVersion',
      'kubeProxyVersion',
      'operatingSystem',
      'architecture',
    ],
  ),
  NodeSwapStatus: object('Swap space of a node.', { capacity: integer('Size in bytes.', 'int64') }),
  ContainerImage: object('A container image on a node.', {
    names: array('Names that the image is known by.', { type: 'string' }),
    sizeBytes: integer('Size in bytes.', 'int64'),
  }),
  AttachedVolume: object(
    'A volume that is attached to a node.',
    { name: string('Name of the volume.'), devicePath: string('Path of the device on the node.') },
    ['name', 'devicePath'],
  ),
  NodeConfigStatus: object('No longer in use: state of the configuration of a kubelet.', {
    assigned: ref('NodeConfigSource', 'The configuration that the kubelet shall use.'),
    active: ref('NodeConfigSource', 'The configuration that the kubelet uses.'),
    lastKnownGood: ref('NodeConfigSource', 'The configuration that the kubelet falls back to.'),
    error: string('What is wrong with the assigned configuration.'),
  }),
  NodeRuntimeHandler: object('A runtime handler, which a RuntimeClass names.', {
    name: string('Name of the handler; empty for the default one.'),
    features: ref('NodeRuntimeHandlerFeatures', 'What the handler can do.'),
  }),
  NodeRuntimeHandlerFeatures: object('What a runtime handler can do.', {
    recursiveReadOnlyMounts: boolean('Whether mounts can be made read-only with all that is mounted below.'),
    userNamespaces: boolean('Whether pods can have user namespaces of their own.'),
  }),
  NodeFeatures: object('What a container runtime can do, whichever the handler.', {
    supplementalGroupsPolicy: boolean('Whether it can keep to the supplementalGroupsPolicy of a pod.'),
  }),
}
