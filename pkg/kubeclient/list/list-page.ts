import { unavailable } from '../../apierrors/status.ts'
import { itemTexts, memberText } from '../../json/members.ts'
import { type Call, type KubeClient, readText } from '../client.ts'

/**
 * A page of a list with the JSON text of each item, since JSON.parse rounds numbers and loses the
 * formatting.
 */
export type ListPage = { readonly list: unknown; readonly sources: readonly string[] }

/** @throws Status of kube-apiserver, or 503 if it is not responding */
export async function readListPage(client: KubeClient, call: Call): Promise<ListPage> {
  const text = await readText(client, call)
  try {
    const list: unknown = JSON.parse(text)
    return { list, sources: itemTexts(memberText(text, 'items')) }
  } catch (error) {
    throw unavailable('kube-apiserver returned a list that is not valid', error)
  }
}
