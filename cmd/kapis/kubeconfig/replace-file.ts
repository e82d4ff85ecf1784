import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'

// Error codes that mean that a file cannot be replaced, although it may be writable.
const noRename = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'EBUSY', 'EXDEV', 'ENOTSUP', 'EINVAL'])

/**
 * Replaces the content of a file, or creates it with mode 0600. It renames a new file over the old
 * one, so readers never see partial content; if a hard link, another owner, a mount or a read-only
 * folder prevents that, it writes in place like kubectl. Symbolic links, hard links, mode and owner
 * are preserved.
 *
 * @throws Error if it cannot be written; the old content is then unchanged
 */
export function replaceFile(file: string, content: Buffer): void {
  const target = realPath(file)
  const old = statOf(target)
  if (old !== undefined && !old.isFile()) throw new Error(`${file} is not a regular file`)
  if (old === undefined) create(target, content)
  else if (old.nlink > 1 || !isRenamed(target, content, old)) writeInPlace(target, content)
}

/** @throws Error if the file exists and is not writable; nothing is changed */
export function assertWritable(file: string): void {
  const target = realPath(file)
  const old = statOf(target)
  if (old === undefined) return
  if (!old.isFile()) throw new Error(`${file} is not a regular file`)
  closeSync(openSync(target, constants.O_WRONLY))
}

/** Resolves symbolic links, also if the target does not exist yet. */
function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

function statOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false })
}

/** Creates the file, also if it is the missing target of a symbolic link. */
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

/** @returns false when this file cannot be replaced by a rename */
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
    if (error instanceof Error && 'code' in error && noRename.has(String(error.code))) return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** @throws Error if the owner of the file cannot be preserved */
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
