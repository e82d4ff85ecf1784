import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../hack/controlplane/settings.ts'
import { output, run, scratch } from '../e2e/run.ts'

/**
 * The version to upgrade from: the last release, or an earlier commit if there is none. It is
 * compiled with the current libraries, so that nothing is installed. If the interface of a library
 * changes, this must become a later commit.
 */
const commit = '19433819f5aef7f8ba1ec792f87ac48337f2d387'

export type Version = {
  /** A folder with the checked out files. */
  readonly folder: string
  /** A folder with the content of /kapis in the image. */
  readonly programs: string
}

/**
 * Checks out the older version from the history of this repository and compiles it with the current
 * libraries.
 *
 * @throws Error in a shallow clone, since nothing is fetched
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
  // The build script of the old version may check types, which takes four times as long.
  copyFileSync(join(repository, 'hack/build.sh'), join(folder, 'hack/build.sh'))
  await output(join(folder, 'hack/build.sh'), [programs], { timeoutMs: 120_000 })
  for (const name of ['node_modules', 'manifests']) symlinkSync(join(folder, name), join(programs, name))
  return { folder, programs }
}
