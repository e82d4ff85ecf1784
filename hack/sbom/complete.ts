import { createHash } from 'node:crypto'

/** What `npm sbom --sbom-format=spdx` prints, as far as it matters here (SPDX 2.3). */
export type Document = {
  readonly name: string
  readonly documentDescribes: readonly string[]
  readonly creationInfo: { readonly created?: string; readonly creators: readonly string[] }
  readonly packages: readonly Readonly<Record<string, unknown>>[]
  readonly relationships: readonly Readonly<Record<string, unknown>>[]
}

export type Surroundings = {
  /** What the image bears as the time of its files, in seconds. */
  readonly sourceDateEpoch: number
  /** process.versions of the Node.js that is in the image. */
  readonly versions: Readonly<Record<string, string | undefined>>
  /** Whether the image has the package in this folder of what npm has installed. */
  readonly isThere: (path: string) => boolean
}

/**
 * npm's document of the packages that are there, with Node.js and what is inside of it, and the same bytes for the same packages: npm gives each document the
 * time of its making and a random name (SPDX 2.3, 6.5 and 6.9: a name of its own, and a time in UTC).
 */
export function completeSbom(npm: Document, { sourceDateEpoch, versions, isThere }: Surroundings): object {
  const left = npm.packages.filter(({ packageFileName: path }) => typeof path !== 'string' || isThere(path))
  const known = new Set<unknown>([...left.map(({ SPDXID }) => SPDXID), 'SPDXRef-DOCUMENT'])
  const { node: nodeVersion = '', ...inside } = versions
  const node = createPackage('node', nodeVersion)
  const parts = Object.entries(inside)
    // Numbers of interfaces are no software, and without a version it is not in this build.
    .filter(([name, version]) => name !== 'modules' && name !== 'napi' && version)
    .map(([name, version = '']) => createPackage(name, version))
  const relate = (from: string, relationshipType: string, to: string) => ({
    spdxElementId: from,
    relatedSpdxElement: to,
    relationshipType,
  })
  const document = {
    ...npm,
    packages: [...left, node, ...parts],
    relationships: [
      ...npm.relationships.filter(
        ({ spdxElementId, relatedSpdxElement }) => known.has(spdxElementId) && known.has(relatedSpdxElement),
      ),
      ...npm.documentDescribes.map(id => relate(id, 'DEPENDS_ON', node.SPDXID)),
      ...parts.map(part => relate(node.SPDXID, 'CONTAINS', part.SPDXID)),
    ],
    documentNamespace: '',
    creationInfo: {
      ...npm.creationInfo,
      created: new Date(sourceDateEpoch * 1000).toISOString().replace('.000Z', 'Z'),
    },
  }
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('hex')
  return { ...document, documentNamespace: `http://spdx.org/spdxdocs/${npm.name}-${digest}` }
}

function createPackage(name: string, version: string) {
  return {
    name,
    SPDXID: `SPDXRef-Node.js-${`${name}-${version}`.replaceAll(/[^A-Za-z0-9.-]/g, '-')}`,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    externalRefs: [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: `pkg:generic/${name}@${encodeURIComponent(version)}`,
      },
    ],
  }
}
