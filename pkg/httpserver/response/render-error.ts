import type { ServerResponse } from 'node:http'
import { renderKube, type StatusForm } from '../../apierrors/render-kube.ts'
import type { Status } from '../../apierrors/status.ts'
import { jsonToYaml } from '../../yaml/write.ts'
import { covers, parseAccept } from '../request/accept-clause.ts'

const yaml: StatusForm = { contentType: 'application/yaml', encode: jsonToYaml }

/**
 * Writes a thrown value as a metav1.Status, in JSON or YAML as negotiated by Accept. If neither is
 * accepted it uses JSON, as kube-apiserver does: a 406 would hide the error.
 *
 * @returns the Status, whose cause is to be logged
 */
export function renderError(res: ServerResponse, error: unknown): Status {
  return renderKube(res, error, prefersYaml(res.req.headers.accept) ? yaml : undefined)
}

function prefersYaml(accept: string | undefined): boolean {
  // Parses Accept only if it contains yaml: errors are frequent during an attack.
  if (accept === undefined || !/yaml/i.test(accept)) return false
  for (const clause of parseAccept(accept)) {
    // A Status cannot be converted to a Table or to metadata.
    if (['as', 'g', 'v', 'stream'].some(name => clause.parameters.has(name))) continue
    if (covers(clause, 'json')) return false
    if (covers(clause, 'yaml')) return true
  }
  return false
}
