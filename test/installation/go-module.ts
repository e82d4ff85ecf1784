import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { output } from '../e2e/run.ts'

const folders = new Map<string, Promise<string>>()

/**
 * Reads a file of a Go module from the module cache or the module proxy, verified by the checksum
 * database.
 */
export async function moduleFile(module: string, file: string): Promise<string> {
  let folder = folders.get(module)
  if (folder === undefined) {
    // In another folder, so that no go.mod of this repository is changed.
    folder = output('go', ['mod', 'download', '-json', module], { cwd: tmpdir(), timeoutMs: 600_000 }).then(
      text => JSON.parse(text).Dir,
    )
    folders.set(module, folder)
  }
  return join(await folder, file)
}
