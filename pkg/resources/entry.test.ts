import { expect } from 'chai'
import { objectBytes, platformForm } from './body.ts'
import { Entry, type ServedKind, toKey } from './entry.ts'
import { node, servedNodes } from './fixtures.ts'
import { toSelfLink } from './kind.ts'
import { managedFieldsForm } from './managed-fields.ts'

const managedFields = [{ manager: 'kubelet', operation: 'Update' }]
const full = node('n1', {
  version: 7,
  labels: { zone: 'Zürich "1"' },
  annotations: { own: 'kept' },
  meta: { managedFields },
  spec: { podCIDR: '10.0.0.0/24' },
  status: { phase: 'x', text: 'a\u2028b</script>' },
})

describe('Entry', () => {
  const read = (bytes: Buffer) => JSON.parse(bytes.toString('utf8'))
  const { managedFields: _, ...meta } = full.metadata

  it('is the object under the served group version, without managedFields', () => {
    const entry = Entry.from(servedNodes, full)
    expect(read(Buffer.concat([entry.aggregatedHead(), entry.tail]))).to.deep.equal({
      ...full,
      apiVersion: 'resources.kapis.io/v1alpha3',
      metadata: meta,
    })
  })

  it('is the object under its own group version for the platform, with selfLink and computed annotations', () => {
    const entry = Entry.from(servedNodes, full).decorated({ annotations: { computed: '16%' }, cells: [] })
    expect(read(objectBytes(entry, platformForm))).to.deep.equal({
      ...full,
      apiVersion: 'v1',
      metadata: {
        ...meta,
        selfLink: '/api/v1/nodes/n1',
        annotations: { own: 'kept', computed: '16%' },
      },
    })
  })

  it('does not show computed annotations on the aggregated face', () => {
    const entry = Entry.from(servedNodes, full).decorated({ annotations: { computed: '16%' }, cells: [] })
    expect(entry.aggregatedHead().toString()).to.not.contain('computed')
  })

  it('does not let an object of its own pass off a computed annotation', () => {
    const forged = Entry.from(servedNodes, node('n1', { annotations: { computed: 'forged' } }))
    const entry = forged.decorated({ annotations: { computed: '16%' }, cells: [] })
    expect(read(objectBytes(entry, platformForm)).metadata.annotations).to.deep.equal({ computed: '16%' })
  })

  it('shows managedFields to those who ask', () => {
    const shown = read(objectBytes(Entry.from(servedNodes, full), managedFieldsForm))
    expect(shown.metadata.managedFields).to.deep.equal(managedFields)
    expect(shown.spec).to.deep.equal(full.spec)
    const without = Entry.from(servedNodes, node('n2'))
    expect(read(objectBytes(without, managedFieldsForm)).metadata).to.not.have.property('managedFields')
  })

  it('is whole without spec and status', () => {
    const bare = Entry.from(servedNodes, node('n1'))
    expect(bare.tail.toString()).to.equal('}')
    expect(read(objectBytes(bare, platformForm)).metadata.name).to.equal('n1')
  })

  it('moves to another version as a new entry', () => {
    const entry = Entry.from(servedNodes, full)
    const moved = entry.at(99)
    expect([entry.version, moved.version]).to.deep.equal([7, 99])
    expect(read(Buffer.concat([moved.aggregatedHead(), moved.tail])).metadata.resourceVersion).to.equal('99')
    expect(entry.meta.resourceVersion).to.equal('7')
    expect(moved.tail).to.equal(entry.tail)
  })

  it('holds no memory but its own, however many short-lived bytes are made beside it', () => {
    const entry = Entry.from(servedNodes, full)
    const kept = [entry.tail, entry.managedFields, entry.aggregatedHead(), entry.platformHead()]
    for (const bytes of kept) expect(bytes?.buffer.byteLength).to.equal(bytes?.length)
  })

  it('does not change with the object that it was made from', () => {
    const spec = { unschedulable: false }
    const entry = Entry.from(servedNodes, node('n1', { spec }))
    spec.unschedulable = true
    expect(entry.tail.toString()).to.equal(',"spec":{"unschedulable":false}}')
  })
})

describe('toKey', () => {
  it('puts the namespace before the name', () => {
    expect([toKey('', 'a'), toKey('ns', 'a')]).to.deep.equal(['a', 'ns/a'])
  })
})

describe('toSelfLink', () => {
  const { kind } = servedNodes
  const apps: ServedKind['kind'] = {
    ...kind,
    plural: 'deployments',
    namespaced: true,
    source: { group: 'apps', version: 'v1', path: '/apis/apps/v1/deployments' },
  }
  const table: readonly [ServedKind['kind'], string, string][] = [
    [kind, '', '/api/v1/nodes/x'],
    [apps, 'ns', '/apis/apps/v1/namespaces/ns/deployments/x'],
  ]
  for (const [of, namespace, link] of table) {
    it(`is ${link}`, () => {
      expect(toSelfLink(of, namespace, 'x')).to.equal(link)
    })
  }
})
