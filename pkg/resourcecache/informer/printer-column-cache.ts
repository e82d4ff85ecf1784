import { isStatus, unavailable } from '../../apierrors/status.ts'
import { createBoundedCache } from '../../cache/bounded-cache.ts'
import { createSingleFlight } from '../../cache/single-flight.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Kind } from '../kind.ts'
import { type PrinterColumn, readPrinterColumns } from '../list/printer-columns.ts'

type Columns = { readonly columns: readonly PrinterColumn[] | undefined }

const maxBytes = 4 * 1024 * 1024
const keptMs = 10_000

/**
 * Reads the printer columns of custom resources from their definitions, and caches them for ten
 * seconds.
 *
 * @returns a function that returns undefined for kinds that no CustomResourceDefinition defines,
 * and throws Status 503
 */
export function createPrinterColumns(
  client: Pick<KubeClient, 'call'>,
): (kind: Kind) => Promise<readonly PrinterColumn[] | undefined> {
  const cache = createBoundedCache<Columns>({
    maxBytes,
    // The author of a definition determines the number and length of its columns.
    sizeOf: ({ columns = [] }) => 4 * JSON.stringify(columns).length,
  })
  const share = createSingleFlight<Columns>()

  async function read({ plural, source }: Kind): Promise<Columns> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${source.group}`
    try {
      return { columns: readPrinterColumns(await client.call({ path }), source.version) }
    } catch (error) {
      if (isStatus(error, 404)) return { columns: undefined }
      throw unavailable(`the columns of ${plural} cannot be read; retry later`)
    }
  }

  return async kind => {
    // The core group has no custom resources.
    if (kind.source.group === '') return undefined
    const key = kind.source.path
    const known = cache.get(key)
    if (known !== undefined) return known.columns
    const found = await share(key, () => read(kind))
    cache.set(key, found, keptMs)
    return found.columns
  }
}
