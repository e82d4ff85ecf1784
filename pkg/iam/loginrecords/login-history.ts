import { compactJson, withoutField } from '../../json/fields.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { readListPage } from '../../kubeclient/list/list-page.ts'
import { type KubeObject, parseList } from '../../kubeclient/object/object.ts'
import { loginRecordsPath, recordNames } from './login-record.ts'

export type HistoryQuery = {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly user: string
  /** The type of records: Password, OAuth or Token; '' for all. */
  readonly type: string
}

/** Returns the login records of a user as JSON, newest first, at most the configured number. */
export async function listLoginRecords({ client, groupDomain, user, type }: HistoryQuery): Promise<string[]> {
  const query = new URLSearchParams({
    labelSelector: `${recordNames(groupDomain).user}=${user}`,
    ...(type === '' ? {} : { fieldSelector: `spec.type=${type}` }),
  })
  const page = await readListPage(client, { path: `${loginRecordsPath(groupDomain)}?${query}` })
  return (parseList(page.list).items ?? [])
    .map((object, i) => ({ object, json: page.sources[i] ?? JSON.stringify(object) }))
    .sort((a, b) => newestFirst(a.object, b.object))
    .map(({ json }) => withoutField(compactJson(json), ['metadata', 'managedFields']))
}

/** Orders records newest first; records of the same second by name, so that the order is stable. */
function newestFirst({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? 1 : -1
  return a.name < b.name ? 1 : -1
}
