import { Status } from '../../apierrors/status.ts'
import type { KubeClient } from '../client.ts'
import { isRecord } from './object.ts'

/**
 * Returns whether an object is being deleted or does not exist.
 *
 * @throws Status if the request fails
 */
export async function isTerminating(client: KubeClient, path: string): Promise<boolean> {
  try {
    const object = await client.call({ path })
    const metadata = isRecord(object) && isRecord(object.metadata) ? object.metadata : {}
    return metadata.deletionTimestamp !== undefined
  } catch (error) {
    if (error instanceof Status && error.code === 404) return true
    throw error
  }
}
