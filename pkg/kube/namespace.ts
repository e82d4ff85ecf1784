import { Status } from '../status/status.ts'
import type { KubeClient } from './client.ts'
import { isRecord } from './object.ts'

/** Whether a namespace is being deleted, or is gone already. @throws Status when it cannot be asked */
export async function isTerminating(client: KubeClient, name: string): Promise<boolean> {
  try {
    const namespace = await client.call({ path: `/api/v1/namespaces/${name}` })
    const metadata = isRecord(namespace) && isRecord(namespace.metadata) ? namespace.metadata : {}
    return metadata.deletionTimestamp !== undefined
  } catch (error) {
    if (error instanceof Status && error.code === 404) return true
    throw error
  }
}
