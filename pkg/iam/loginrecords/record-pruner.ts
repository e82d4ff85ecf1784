import { orUndefined } from '../../apierrors/status.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { type KubeObject, parseList } from '../../kubeclient/object/object.ts'
import { loginRecordsPath, recordNames } from './login-record.ts'

export type RecordPrunerOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly retentionSeconds: number
  /** Maximum number of records of each user. */
  readonly maxEntries: number
  /** How long failures of unknown names are kept, in seconds; only the lockout needs them. */
  readonly unknownSeconds: number
}

// Only names, labels and times are needed.
const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
const pageSize = 500

/** Deletes login records beyond the retention or the limit of their user; safe on every replica. */
export async function pruneLoginRecords(options: RecordPrunerOptions, nowMs = Date.now()): Promise<void> {
  const { client, groupDomain } = options
  const path = loginRecordsPath(groupDomain)
  for (const name of toPrune(await readAll(client, path), options, nowMs)) {
    await orUndefined(client.call({ method: 'DELETE', path: `${path}/${encodeURIComponent(name)}` }), 404)
  }
}

async function readAll(client: KubeClient, path: string): Promise<KubeObject[]> {
  const records: KubeObject[] = []
  let next = ''
  do {
    const more = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
    const page = parseList(
      await client.call({ path: `${path}?limit=${pageSize}${more}`, accept: metadataOnly }),
    )
    records.push(...(page.items ?? []))
    next = page.metadata.continue ?? ''
  } while (next !== '')
  return records
}

/** Returns the names of records to delete. */
export function toPrune(
  records: readonly KubeObject[],
  { groupDomain, retentionSeconds, maxEntries, unknownSeconds }: Omit<RecordPrunerOptions, 'client'>,
  nowMs: number,
): string[] {
  const label = recordNames(groupDomain).user
  const kept = new Map<string, number>()
  const names: string[] = []
  const newestFirst = [...records].sort(
    (a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp),
  )
  for (const { metadata } of newestFirst) {
    const user = metadata.labels?.[label]
    const ageSeconds = (nowMs - Date.parse(metadata.creationTimestamp)) / 1000
    const count = kept.get(user ?? '') ?? 0
    const isOver =
      user === undefined ? ageSeconds > unknownSeconds : ageSeconds > retentionSeconds || count >= maxEntries
    if (isOver) names.push(metadata.name)
    else kept.set(user ?? '', count + 1)
  }
  return names
}
