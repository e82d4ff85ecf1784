import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { hasCode } from '../session/error-code.ts'

// Error codes for a file that cannot be replaced by a rename, but may be writable.
const noRename = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'EBUSY', 'EXDEV', 'ENOTSUP', 'EINVAL'])

/**
 * Replaces the content of a file, or creates the file with mode 0600. A new file is renamed over
 * the old file, so readers never see partial content. If a hard link, another owner, a mount or a
 * read-only folder prevents a rename, the file is overwritten in place, like kubectl does. Links,
 * mode and owner are preserved.
 *
 * @throws Error if the file cannot be written; the old content is then unchanged
 */
export function replaceFile(file: string, content: Buffer): void {
  const target = realPath(file)
  const old = statOf(target)
  if (old !== undefined && !old.isFile()) throw new Error(`${file} is not a regular file`)
  if (old === undefined) create(target, content)
  else if (old.nlink > 1 || !isRenamed(target, content, old)) writeInPlace(target, content)
}

/** @throws Error if the file is not writable, or could not be created; nothing is changed */
export function assertWritable(file: string): void {
  const target = realPath(file)
  const old = statOf(target)
  if (old === undefined) {
    accessSync(dirname(target), constants.W_OK)
    return
  }
  if (!old.isFile()) throw new Error(`${file} is not a regular file`)
  closeSync(openSync(target, constants.O_WRONLY))
}

/** Resolves symbolic links, even if the target does not exist. @throws Error for a loop */
function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch (error) {
    const link = hasCode(error, 'ENOENT') ? linkOf(file) : undefined
    if (link !== undefined) return realPath(resolve(dirname(file), link))
    if (hasCode(error, 'ENOENT')) return file
    throw error
  }
}

function linkOf(file: string): string | undefined {
  try {
    return readlinkSync(file)
  } catch {
    return undefined
  }
}

function statOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false })
}

/** Creates the file, which may be the missing target of a symbolic link. */
function create(target: string, content: Buffer): void {
  const fd = openSync(target, constants.O_WRONLY | constants.O_CREAT, 0o600)
  try {
    overwrite(fd, content)
  } catch (error) {
    rmSync(target, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
}

/** @returns false if a rename cannot replace this file */
function isRenamed(target: string, content: Buffer, old: Stats): boolean {
  const draft = `${target}.${process.pid}.tmp`
  try {
    const fd = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(fd, content)
      keepOwner(fd, old)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(draft, target)
    return true
  } catch (error) {
    if (hasCode(error, ...noRename)) return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Sets the owner and mode of the new file. @throws Error if the owner cannot be preserved */
function keepOwner(fd: number, { uid, gid, mode }: Stats): void {
  const made = fstatSync(fd)
  if (made.uid !== uid || made.gid !== gid) fchownSync(fd, uid, gid)
  fchmodSync(fd, mode & 0o7777)
}

function writeInPlace(target: string, content: Buffer): void {
  const before = readFileSync(target)
  const fd = openSync(target, constants.O_WRONLY)
  try {
    overwrite(fd, content)
  } catch (error) {
    overwrite(fd, before)
    throw error
  } finally {
    closeSync(fd)
  }
}

function overwrite(fd: number, content: Buffer): void {
  let done = 0
  while (done < content.length) done += writeSync(fd, content, done, content.length - done, done)
  ftruncateSync(fd, content.length)
  fsyncSync(fd)
}
