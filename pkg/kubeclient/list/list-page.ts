import { unavailable } from '../../apierrors/status.ts'
import { fieldText, itemTexts } from '../../json/fields.ts'
import { type Call, type KubeClient, readText } from '../client.ts'

/** A page of a list with the JSON of each item, since JSON.parse rounds numbers. */
export type ListPage = { readonly list: unknown; readonly sources: readonly string[] }

/** @throws Status of kube-apiserver, or 503 if it is not responding */
export async function readListPage(client: KubeClient, call: Call): Promise<ListPage> {
  const text = await readText(client, call)
  try {
    return parseListPage(text)
  } catch (error) {
    throw unavailable('kube-apiserver returned a list that is not valid', error)
  }
}

/** @throws SyntaxError */
export function parseListPage(text: string): ListPage {
  return { list: JSON.parse(text), sources: itemTexts(fieldText(text, 'items')) }
}
