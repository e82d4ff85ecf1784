import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * Reads a regular file, or a link to one. A pipe without a writer would block, and a device may have
 * no end.
 *
 * @throws Error for anything else; the error of node:fs if the file cannot be read
 */
export function readRegularFile(path: string): Buffer {
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(fd)
    // A folder causes a clear error, EISDIR.
    if (!stats.isFile() && !stats.isDirectory()) throw new Error(`${path} is not a regular file`)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}
