import { expect } from 'chai'
import { completeSbom, type Document } from './complete.ts'

const ofNpm: Document & Record<string, unknown> = {
  spdxVersion: 'SPDX-2.3',
  name: 'kapis@0.1.0',
  documentNamespace: 'http://spdx.org/spdxdocs/kapis-0.1.0-d263d427-a839-426a-a86e-64d420ac79de',
  creationInfo: { created: '2026-11-21T22:28:53.303Z', creators: ['Tool: npm/cli-11.19.1'] },
  documentDescribes: ['SPDXRef-Package-kapis-0.1.0'],
  packages: [{ name: 'kapis', SPDXID: 'SPDXRef-Package-kapis-0.1.0', versionInfo: '0.1.0' }],
  relationships: [],
} as const
const surroundings = {
  sourceDateEpoch: 1_700_000_000,
  versions: { node: '24.21.0', openssl: '3.5.4+x', napi: '10', ngtcp2: '' },
  isThere: () => true,
}

describe('completeSbom', () => {
  it('adds Node.js and what is inside of it', () => {
    const { packages, relationships } = completeSbom(ofNpm, surroundings) as Document
    const described = packages.map(({ name, versionInfo }) => [name, versionInfo])
    expect(described).to.deep.equal([
      ['kapis', '0.1.0'],
      ['node', '24.21.0'],
      ['openssl', '3.5.4+x'],
    ])
    expect(packages[2]?.externalRefs).to.deep.equal([
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: 'pkg:generic/openssl@3.5.4%2Bx',
      },
    ])
    const ids = new Set(packages.map(({ SPDXID }) => SPDXID))
    for (const id of ids) expect(id).to.match(/^SPDXRef-[A-Za-z0-9.-]+$/)
    expect(
      relationships.map(({ spdxElementId, relationshipType, relatedSpdxElement }) => [
        ids.has(spdxElementId),
        relationshipType,
        ids.has(relatedSpdxElement),
      ]),
    ).to.deep.equal([
      [true, 'DEPENDS_ON', true],
      [true, 'CONTAINS', true],
    ])
  })

  it('has no package that is not in the image', () => {
    const packages = ['a', 'b', 'c'].map(name => ({
      name,
      SPDXID: `SPDXRef-${name}`,
      packageFileName: name === 'a' ? '' : `node_modules/${name}`,
    }))
    const dependency = (name: string, of: string) => ({
      spdxElementId: `SPDXRef-${name}`,
      relatedSpdxElement: `SPDXRef-${of}`,
      relationshipType: 'DEPENDENCY_OF',
    })
    const npm = {
      ...ofNpm,
      documentDescribes: ['SPDXRef-a'],
      packages,
      relationships: [dependency('b', 'a'), dependency('c', 'b'), dependency('b', 'c')],
    }
    const isThere = (path: string) => ['', 'node_modules/b'].includes(path)
    const document = completeSbom(npm, {
      ...surroundings,
      versions: { node: '24.21.0' },
      isThere,
    }) as Document
    expect(document.packages.map(({ name }) => name)).to.deep.equal(['a', 'b', 'node'])
    expect(
      document.relationships.filter(({ relationshipType }) => relationshipType === 'DEPENDENCY_OF'),
    ).to.deep.equal([dependency('b', 'a')])
  })

  it('is the same for the same packages and commit, and another for others', () => {
    const again = {
      ...ofNpm,
      documentNamespace: 'http://spdx.org/spdxdocs/kapis-0.1.0-another',
      creationInfo: { ...ofNpm.creationInfo, created: '2027-01-01T00:00:00.000Z' },
    }
    const document = completeSbom(ofNpm, surroundings)
    expect(completeSbom(again, surroundings)).to.deep.equal(document)
    expect(document).to.have.nested.property('creationInfo.created', '2023-11-14T22:13:20Z')
    expect(document)
      .to.have.property('documentNamespace')
      .that.matches(/\/kapis@0\.1\.0-[0-9a-f]{64}$/)
    const other = completeSbom(ofNpm, { ...surroundings, versions: { node: '24.22.0' } })
    expect(other)
      .to.have.property('documentNamespace')
      .that.is.not.equal((document as { documentNamespace?: string }).documentNamespace)
  })
})
