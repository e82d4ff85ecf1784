import type { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'

export const profileKinds = ['cpu', 'heap'] as const
export type ProfileKind = (typeof profileKinds)[number]

/** Path prefix of the profiles of kapis-oauth, which kapis-apiserver proxies. */
export const listenerProfilePrefix = '/debug/profile/oauth/'

/** Returns the profile kind that follows `prefix` in a path; undefined for any other path. */
export function profileKindOf(path: string, prefix: string): ProfileKind | undefined {
  return profileKinds.find(kind => path === prefix + kind)
}

/** Average bytes allocated between two heap samples: the default of V8. */
const heapInterval = 32_768

/**
 * Records a CPU profile (.cpuprofile) or a sampled heap profile (.heapprofile) and returns its
 * JSON. Both contain only function names and sizes. Heap snapshots are not supported: they would
 * contain tokens.
 *
 * @param signal ends the recording early; the profile contains what was recorded until then
 */
export async function takeProfile(kind: ProfileKind, seconds: number, signal: AbortSignal): Promise<string> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    return JSON.stringify(
      kind === 'cpu' ? await sampleCpu(session, seconds, signal) : await sampleHeap(session, seconds, signal),
    )
  } finally {
    session.disconnect()
  }
}

async function sampleCpu(session: Session, seconds: number, signal: AbortSignal): Promise<unknown> {
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await wait(seconds, signal)
  return (await session.post('Profiler.stop')).profile
}

async function sampleHeap(session: Session, seconds: number, signal: AbortSignal): Promise<unknown> {
  await session.post('HeapProfiler.enable')
  await session.post('HeapProfiler.startSampling', { samplingInterval: heapInterval })
  await wait(seconds, signal)
  return (await session.post('HeapProfiler.stopSampling')).profile
}

async function wait(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined)
}
