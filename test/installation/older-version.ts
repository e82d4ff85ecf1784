import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../hack/controlplane/settings.ts'
import { output, run, scratch } from '../e2e/run.ts'

/**
 * What is upgraded from: the last release, and before there is one an earlier commit. Its libraries are today's, so that nothing has to
 * be installed: a library with another interface moves it to the commit that brought it.
 */
const commit = '19433819f5aef7f8ba1ec792f87ac48337f2d387'

export type Version = {
  /** A checkout without its history. */
  readonly folder: string
  /** What its image has in /kapis. */
  readonly programs: string
}

/**
 * Checks the older version out of this repository's own history and compiles it, next to today's libraries.
 *
 * @throws Error in a clone that is not deep enough: nothing is fetched
 */
export async function olderVersion(): Promise<Version> {
  const git = (...args: readonly string[]) => run('git', ['-C', repository, ...args])
  if ((await git('cat-file', '-e', `${commit}^{commit}`)).code !== 0) {
    throw new Error(
      `${commit}, which is upgraded from, is not in this clone. Fetch the history: git fetch --unshallow (actions/checkout: fetch-depth: 0)`,
    )
  }
  const folder = join(scratch, 'older')
  mkdirSync(folder)
  const archive = `${folder}.tar`
  await output('git', ['-C', repository, 'archive', '--format=tar', `--output=${archive}`, commit])
  await output('tar', ['-xf', archive, '-C', folder])
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  const programs = join(scratch, 'older-kapis')
  await output(join(folder, 'hack/build.sh'), [programs], { timeoutMs: 120_000 })
  for (const name of ['node_modules', 'manifests']) symlinkSync(join(folder, name), join(programs, name))
  return { folder, programs }
}
