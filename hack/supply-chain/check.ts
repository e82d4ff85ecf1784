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

/** Returns actions and node images of kind in a workflow that are not pinned: tags can be moved. */
export function unpinned(file: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, i) => {
    const action = /^\s*(?:- )?uses:\s*["']?([^\s"'#]+)/.exec(line)?.[1]
    const used = action ?? /\bkindest\/node\b[^\s"'#]*/.exec(line)?.[0]
    const isPinned = used?.startsWith('./') || /@[0-9a-f]{40}$|@sha256:[0-9a-f]{64}$/.test(used ?? '')
    if (used === undefined || isPinned) return []
    return [`${file}:${i + 1}: ${used} is not pinned by a commit or digest`]
  })
}
