/** Returns direct dependencies of package.json without an exact version. */
export function versionFaults(manifest: Readonly<Record<string, unknown>>): readonly string[] {
  return directDependencies(manifest)
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `package.json: ${name} is ${version}, which is not an exact version`)
}

/** Returns direct dependencies without a row in the table of the ADR. */
export function undocumented(manifest: Readonly<Record<string, unknown>>, adr: string): readonly string[] {
  const argued = new Set(
    [...adr.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = '']) =>
      names.split(',').map(name => name.trim()),
    ),
  )
  return directDependencies(manifest)
    .map(([name]) => name)
    .filter(name => !name.startsWith('@types/') && !argued.has(name) && !argued.has(shortName(name)))
    .map(name => `docs/adr/0001-dependencies.md does not justify ${name}`)
}

/** Returns the common name of a package: `@biomejs/biome` is usually called biome. */
function shortName(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}

function directDependencies(
  manifest: Readonly<Record<string, unknown>>,
): readonly (readonly [string, string])[] {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap(kind => {
    const members = manifest[kind]
    return typeof members === 'object' && members !== null ? Object.entries<string>({ ...members }) : []
  })
}

/** Returns actions of a workflow that are not pinned to a commit, since tags can be moved. */
export function unpinnedActions(file: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, i) => {
    const used = /^\s*(?:- )?uses:\s*["']?([^\s"'#]+)/.exec(line)?.[1]
    if (used === undefined || used.startsWith('./') || /@[0-9a-f]{40}$/.test(used)) return []
    if (/^docker:\/\/.*@sha256:[0-9a-f]{64}$/.test(used)) return []
    return [`${file}:${i + 1}: ${used} is not pinned to a commit`]
  })
}

/** Returns node images of kind in a workflow that are not pinned by digest. */
export function unpinnedNodeImages(file: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, i) => {
    const image = /\bkindest\/node\b[^\s"'#]*/.exec(line)?.[0]
    if (image === undefined || /@sha256:[0-9a-f]{64}$/.test(image)) return []
    return [`${file}:${i + 1}: ${image} is not pinned by its digest`]
  })
}

const installScripts = ['preinstall', 'install', 'postinstall']

export function installScriptsOf(manifest: unknown): readonly string[] {
  if (typeof manifest !== 'object' || manifest === null || !('scripts' in manifest)) return []
  const { scripts } = manifest
  if (typeof scripts !== 'object' || scripts === null) return []
  return installScripts.filter(name => name in scripts)
}
