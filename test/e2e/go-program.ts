import { output, run } from './run.ts'

/**
 * Timeout of a build. If kube-apiserver was not built here, the first one compiles all of
 * client-go.
 */
export const goBuildTimeoutMs = 600_000

/** Returns whether Go is installed; prints a message otherwise. */
export async function hasGo(what: string): Promise<boolean> {
  const isThere = await run('go', ['version']).then(
    ({ code }) => code === 0,
    () => false,
  )
  if (!isThere) console.error(`      skipped: building ${what} takes Go`)
  return isThere
}

/**
 * Runs a Go command that builds a program, and prints its progress.
 *
 * @param folder with the go.mod, whose versions are those of kube-apiserver
 * (hack/controlplane/binaries/versions.test.ts)
 */
export async function buildGo(what: string, args: readonly string[], folder: string): Promise<void> {
  const startedAt = Date.now()
  console.error(`      building ${what} (some seconds the first time)`)
  const progress = setInterval(() => {
    console.error(`      still building, ${Math.round((Date.now() - startedAt) / 1000)} s`)
  }, 15_000)
  const [command = '', ...rest] = args
  // The same flags as in hack/controlplane/binaries/build.ts make use of the compiler cache.
  const options = { cwd: folder, env: { CGO_ENABLED: '0' }, timeoutMs: goBuildTimeoutMs }
  await output('go', [command, '-trimpath', ...rest], options).finally(() => clearInterval(progress))
}
