import type { KubeClient } from '../kube/client.ts'
import { type KubeObject, parseList } from '../kube/object.ts'
import { loginRecordsPath, recordNames } from './login-record.ts'
import { iamVersion } from './user.ts'

export type HistoryQuery = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly user: string
  /** Password, OAuth or Token; '' for all. */
  readonly type: string
}

/** The logins of one user that are remembered, newest first. They are few: see loginHistoryMaximumEntries. */
export async function listLoginRecords({
  client,
  groupDomain,
  user,
  type,
}: HistoryQuery): Promise<KubeObject[]> {
  const query = new URLSearchParams({
    labelSelector: `${recordNames(groupDomain).user}=${user}`,
    ...(type === '' ? {} : { fieldSelector: `spec.type=${type}` }),
  })
  const list = parseList(await client.call({ path: `${loginRecordsPath(groupDomain)}?${query}` }))
  const records = (list.items ?? []).map(({ metadata, ...record }) => {
    const { managedFields: _managedFields, ...rest } = metadata
    return { kind: 'LoginRecord', apiVersion: `iam.${groupDomain}/${iamVersion}`, metadata: rest, ...record }
  })
  return records.sort(newestFirst)
}

/** Total: of one second the names decide. */
function newestFirst({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? 1 : -1
  return a.name < b.name ? 1 : -1
}
