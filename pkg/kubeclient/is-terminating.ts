import { Status } from '../apierrors/status.ts'
import type { KubeClient } from './client.ts'
import { isRecord } from './object.ts'

/** Whether an object is being deleted, or is gone already. @throws Status when it cannot be asked */
export async function isLeaving(client: KubeClient, path: string): Promise<boolean> {
  try {
    const object = await client.call({ path })
    const metadata = isRecord(object) && isRecord(object.metadata) ? object.metadata : {}
    return metadata.deletionTimestamp !== undefined
  } catch (error) {
    if (error instanceof Status && error.code === 404) return true
    throw error
  }
}
