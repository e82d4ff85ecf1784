/** A package in a lock file (lockfileVersion 3 of npm). */
export type LockedPackage = {
  /** The path where it is installed: node_modules/… */
  readonly path: string
  readonly name: string
  readonly version: string
  readonly license: string
  /** Whether the image contains the package; others are only for building and testing. */
  readonly isShipped: boolean
  readonly integrity: string
  readonly resolved: string
  /** Names of packages for other platforms, which npm does not install here. */
  readonly optional: readonly string[]
  readonly hasInstallScript: boolean
}

export type LockfileText = { readonly path: string; readonly text: string }

/** @throws Error if the text is not a lock file of version 3 */
export function readLockfile({ path, text }: LockfileText): readonly LockedPackage[] {
  const { lockfileVersion, packages } = JSON.parse(text)
  if (lockfileVersion !== 3 || typeof packages !== 'object')
    throw new Error(`${path} is not a lock file of version 3`)
  return Object.entries<Record<string, unknown>>(packages)
    .filter(([where]) => where !== '')
    .map(([where, entry]) => ({
      path: where,
      name: where.slice(where.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: String(entry.version ?? ''),
      license: String(entry.license ?? ''),
      isShipped: entry.dev !== true,
      integrity: String(entry.integrity ?? ''),
      resolved: String(entry.resolved ?? ''),
      optional: Object.keys(entry.optionalDependencies ?? {}),
      hasInstallScript: entry.hasInstallScript === true,
    }))
}

// Licences that permit use, modification and redistribution, and only require the notice.
const permissive = new Set([
  ...['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'],
  ...['BlueOak-1.0.0', 'PSF-2.0', 'Unlicense', 'Python-2.0', 'CC0-1.0'],
])

/** Reports whether an SPDX expression permits use; nested parentheses count as not. */
export function isPermissive(license: string): boolean {
  return license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some(choice => choice.split(' AND ').every(one => permissive.has(one)))
}

// Packages with known install scripts, which are not needed: packages are installed with
// --ignore-scripts.
const knownScripts: ReadonlySet<string> = new Set(['@swc/core'])

/**
 * Returns problems of a lock file: packages without a checksum or an allowed licence, with an
 * unknown install script, and missing optional packages for other platforms. If a registry lacks
 * those, `npm ci` rejects its lock file elsewhere.
 */
export function lockfileFaults(file: string, packages: readonly LockedPackage[]): readonly string[] {
  const names = new Set(packages.map(({ name }) => name))
  return packages.flatMap(({ path, name, integrity, license, resolved, optional, hasInstallScript }) => [
    ...optional
      .filter(name => !names.has(name))
      .map(name => `${file}: the optional dependency ${name} of ${path} is not locked`),
    ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ? [] : [`${file}: ${path} has no sha512 integrity`]),
    ...(isPermissive(license) ? [] : [`${file}: ${path}: ${licenceProblem(license)}`]),
    ...(hasInstallScript && !knownScripts.has(name) ? [`${file}: ${path} has an install script`] : []),
    ...(resolved === '' || resolved.startsWith('https://')
      ? []
      : [`${file}: ${path} comes from ${resolved}`]),
  ])
}

function licenceProblem(licence: string): string {
  return licence === '' ? 'no licence' : `licence ${JSON.stringify(licence)} is not allowed`
}
