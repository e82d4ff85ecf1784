import { editYaml } from '../../../pkg/yaml/edit/edit-yaml.ts'
import type { ValueChange } from '../../../pkg/yaml/edit/value.ts'
import type { Io } from '../command.ts'
import { withFileLock } from '../session/file-lock.ts'
import { decode } from './encoding.ts'
import { type Kubeconfig, loadKubeconfig } from './files.ts'
import type { Plan } from './plan-changes.ts'
import { assertWritable, replaceFile } from './replace-file.ts'

/** Plans changes of the merged kubeconfig. @throws Error if a change is not possible */
export type Planner = (config: Kubeconfig) => Plan

/**
 * Checks that changes can be made, before a login that could not be used without them. Writes
 * nothing.
 *
 * @param paths the files that kubectl merges
 * @throws Error
 */
export function checkChanges(paths: readonly string[], planner: Planner, io: Io): Promise<void> {
  return withPlan(paths, planner, io, drafts => {
    for (const { path } of drafts) attempt(path, () => assertWritable(path))
  })
}

/** Changes the files like `kubectl config`, with the same lock files. @throws Error */
export function applyChanges(paths: readonly string[], planner: Planner, io: Io): Promise<void> {
  return withPlan(paths, planner, io, drafts => {
    for (const { path, content } of drafts) attempt(path, () => replaceFile(path, content))
  })
}

type Draft = { readonly path: string; readonly content: Buffer }

async function withPlan(
  paths: readonly string[],
  planner: Planner,
  io: Io,
  work: (drafts: readonly Draft[]) => void,
): Promise<void> {
  const targets = [...planner(loadKubeconfig(paths)).keys()]
  await withLocks(targets.toSorted(), io, () => {
    const config = loadKubeconfig(paths)
    const plan = planner(config)
    if ([...plan.keys()].some(path => !targets.includes(path)))
      throw new Error('the kubeconfig was changed by another process; try again')
    work([...plan].flatMap(([path, changes]) => toDraft(config, path, changes)))
  })
}

/** Returns the changed file; empty if the file already has the desired content. */
function toDraft({ files }: Kubeconfig, path: string, changes: readonly ValueChange[]): readonly Draft[] {
  const { text, encode } = files.find(file => file.path === path)?.decoded ?? decode(Buffer.alloc(0))
  const next = attempt(path, () => editYaml(text, changes))
  return next === text ? [] : [{ path, content: encode(next) }]
}

/** Adds the name of the file to an error. */
function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Error(
      `failed to change the kubeconfig ${path}: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** Acquires the locks of all files, sorted, so that processes cannot deadlock. */
async function withLocks(paths: readonly string[], io: Io, work: () => void): Promise<void> {
  const [path, ...others] = paths
  if (path === undefined) return work()
  const onWait = (lock: string) => io.err(`Waiting for another process to release ${lock}.\n`)
  const settings = { signal: io.signal, onWait, folderMode: 0o755 }
  return withFileLock(path, () => withLocks(others, io, work), settings)
}
