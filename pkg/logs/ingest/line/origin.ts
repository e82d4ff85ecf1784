import { type FlatFields, firstOf, takeOut } from './flatten.ts'
import { fileNames, meanings, type OriginName } from './origin-names.ts'

type Origin = Record<OriginName, string>

// Names of log files of containers, as the kubelet creates them. Tags of Fluent Bit have dots
// instead of slashes.
const containerFile = /^([a-z0-9][a-z0-9.-]*)_([a-z0-9-]+)_([a-z0-9-]+)-([0-9a-f]{64})\.log$/
const podFile = /[./]pods[./]([a-z0-9-]+)_([a-z0-9][a-z0-9.-]*)_[0-9a-f-]{32,36}[./]([a-z0-9-]+)[./]\d+\.log$/
const maxFileName = 4096

/** Reports whether the data has a namespace or a pod. */
export function isOfPod(flat: FlatFields): boolean {
  for (const name of flat.keys()) {
    const of = meanings.get(name)?.of
    if (of === 'namespace' || of === 'pod') return true
  }
  return false
}

/** Extracts the origin of a line from fields, otherwise from the name of its log file. */
export function takeOrigin(flat: FlatFields): Origin {
  return withFile(takeMembers(flat), flat)
}

/**
 * Extracts the origin from fields. Of several fields for the same part, the first by precedence is
 * used; others remain fields if they differ.
 */
function takeMembers(flat: FlatFields): Origin {
  const origin = { namespace: '', pod: '', container: '', host: '', dockerId: '' }
  const rank = { namespace: 0, pod: 0, container: 0, host: 0, dockerId: 0 }
  const found: [string, OriginName][] = []
  for (const [name, raw] of flat) {
    const meaning = meanings.get(name)
    const value = meaning === undefined ? undefined : firstOf(raw)
    if (meaning === undefined || typeof value !== 'string' || value === '') continue
    const { of, order } = meaning
    found.push([name, of])
    if (origin[of] === '' || order < rank[of]) {
      origin[of] = value
      rank[of] = order
    }
  }
  for (const [name, of] of found) takeOut(flat, name, value => value === origin[of])
  return origin
}

/** Takes the origin from the name of the log file if no field has a namespace or pod. */
function withFile(origin: Origin, flat: FlatFields): Origin {
  for (const name of fileNames) {
    const file = flat.get(name)
    const fromName = typeof file === 'string' ? readFileName(file) : undefined
    if (fromName === undefined) continue
    const isUnknown = origin.namespace === '' && origin.pod === ''
    const whole = isUnknown
      ? { ...origin, ...fromName, dockerId: fromName.dockerId || origin.dockerId }
      : origin
    // The origin contains the whole file name, which need not be stored.
    if (
      fromName.dockerId !== '' &&
      Object.entries(fromName).every(([key, value]) => whole[key as OriginName] === value)
    )
      flat.delete(name)
    return whole
  }
  return origin
}

function readFileName(file: string): Omit<Origin, 'host'> | undefined {
  if (!file.endsWith('.log') || file.length > maxFileName) return undefined
  const name = file.includes('/')
    ? file.slice(file.lastIndexOf('/') + 1)
    : file.replace(/^.*?\bcontainers\./, '')
  const ofContainer = containerFile.exec(name)
  if (ofContainer !== null) {
    const [, pod = '', namespace = '', container = '', dockerId = ''] = ofContainer
    return { namespace, pod, container, dockerId }
  }
  const [, namespace, pod = '', container = ''] = podFile.exec(file) ?? []
  return namespace === undefined ? undefined : { namespace, pod, container, dockerId: '' }
}
