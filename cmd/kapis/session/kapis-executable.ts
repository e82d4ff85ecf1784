import { cpSync, existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { makeFolders } from '../../../pkg/files/make-folders.ts'
import type { Io } from '../command.ts'

/** The program that the exec plugin of kubectl starts. */
export type KapisExecutable = {
  readonly file: string
  /** Copies the program to a permanent folder if necessary. */
  readonly keep: () => void
}

// Cache folders of npx, pnpm dlx, yarn dlx and bunx, which may be deleted at any time.
const volatile = /^(_npx|dlx.*|xfs-.*|bunx-.*)$/

/**
 * Returns the path of the running program for a kubeconfig. A package in a cache of npx is copied
 * to ~/.local/share/kapis (XDG_DATA_HOME): the cache may be deleted, and npx could fetch another
 * version.
 *
 * @param started the path with which the program was started
 */
export function findKapisExecutable({ env, version }: Io, started: string): KapisExecutable {
  const file = realpathSync(started)
  const root = packageRoot(file)
  if (root === undefined || !root.split(sep).some(name => volatile.test(name)))
    return { file, keep: () => undefined }
  const data = env.XDG_DATA_HOME || join(homedir(), '.local', 'share')
  const copy = resolve(data, 'kapis', version)
  return { file: join(copy, file.slice(root.length)), keep: () => replaceFolder(root, copy) }
}

/** Returns the folder of the package, below node_modules, that contains a file. */
function packageRoot(file: string): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (basename(dirname(folder)) === 'node_modules') return folder
  return undefined
}

/** Replaces an existing copy, since a copy of the same version may be from another build. */
function replaceFolder(from: string, to: string): void {
  const draft = `${to}.${process.pid}`
  const old = `${draft}.old`
  makeFolders(dirname(to), 0o755)
  try {
    cpSync(from, draft, { recursive: true, dereference: true })
    if (existsSync(to)) renameSync(to, old)
    renameSync(draft, to)
  } finally {
    for (const folder of [draft, old]) rmSync(folder, { recursive: true, force: true })
  }
}
