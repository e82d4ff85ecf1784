import { expect } from 'chai'
import { node, servedNodes, toEntry } from '../fixtures.ts'
import { toSelfLink } from '../kind.ts'
import { objectBytes, platformForm } from '../list/list-body.ts'
import { managedFieldsForm } from '../list/managed-fields-form.ts'
import { CachedObject, type ServedKind, toKey } from './cached-object.ts'

const managedFields = [{ manager: 'kubelet', operation: 'Update' }]
const full = node('n1', {
  version: 7,
  labels: { zone: 'Zürich "1"' },
  annotations: { own: 'kept' },
  meta: { managedFields },
  spec: { podCIDR: '10.0.0.0/24' },
  status: { phase: 'x', text: 'a\u2028b</script>' },
})

describe('CachedObject', () => {
  const read = (bytes: Buffer) => JSON.parse(bytes.toString('utf8'))
  const { managedFields: _, ...meta } = full.metadata

  it('contains the object with the served group version, without managedFields', () => {
    const entry = toEntry(servedNodes, full)
    expect(read(Buffer.concat([entry.aggregatedHead(), entry.tail]))).to.deep.equal({
      ...full,
      apiVersion: 'resources.kapis.io/v1alpha3',
      metadata: meta,
    })
  })

  it('contains the object with its own group version for the platform API, with selfLink and computed annotations', () => {
    const entry = toEntry(servedNodes, full).decorated({ annotations: { computed: '16%' }, cells: [] })
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

  it('omits computed annotations in the extension API', () => {
    const entry = toEntry(servedNodes, full).decorated({ annotations: { computed: '16%' }, cells: [] })
    expect(entry.aggregatedHead().toString()).to.not.contain('computed')
  })

  it('removes computed annotations that an object itself contains', () => {
    const forged = toEntry(servedNodes, node('n1', { annotations: { computed: 'forged' } }))
    const entry = forged.decorated({ annotations: { computed: '16%' }, cells: [] })
    expect(read(objectBytes(entry, platformForm)).metadata.annotations).to.deep.equal({ computed: '16%' })
  })

  it('includes managedFields on request', () => {
    const shown = read(objectBytes(toEntry(servedNodes, full), managedFieldsForm))
    expect(shown.metadata.managedFields).to.deep.equal(managedFields)
    expect(shown.spec).to.deep.equal(full.spec)
    const without = toEntry(servedNodes, node('n2'))
    expect(read(objectBytes(without, managedFieldsForm)).metadata).to.not.have.property('managedFields')
  })

  it('accepts an object without spec and status', () => {
    const bare = toEntry(servedNodes, node('n1'))
    expect(bare.tail.toString()).to.equal('}')
    expect(read(objectBytes(bare, platformForm)).metadata.name).to.equal('n1')
  })

  it('creates a new entry for another version', () => {
    const entry = toEntry(servedNodes, full)
    const moved = entry.at(99)
    expect([entry.version, moved.version]).to.deep.equal([7, 99])
    expect(read(Buffer.concat([moved.aggregatedHead(), moved.tail])).metadata.resourceVersion).to.equal('99')
    expect(entry.meta.resourceVersion).to.equal('7')
    expect(moved.tail).to.equal(entry.tail)
  })

  const annotations = '{"b":"\\u003c","10":"x","9":"\\u2028"}'
  const exactMeta = `{"name":"n1","generation":9007199254740993,"annotations":${annotations},"unknown":{"n":1.0},"uid":"u","resourceVersion":"7","creationTimestamp":"2031-05-06T07:08:09Z"}`
  const exactTail =
    ',"spec":{"b":9223372036854775807,"10":1e3,"9":-0,"t":"\\u003cgr\\u00fcn\\u003e","__proto__":{"a":1}},"x":[0.1000000000000000055]}'
  const exactManaged = '[{"manager":"m","x":1.0}]'
  const exact = `{"kind":"Node","apiVersion":"v1","metadata":${exactMeta.slice(0, -1)},"managedFields":${exactManaged}}${exactTail}`
  const received = () => CachedObject.from(servedNodes, JSON.parse(exact), exact)

  it('preserves every byte: numbers, escapes, order, unknown fields', () => {
    const entry = received()
    expect(`${entry.aggregatedHead()}${entry.tail}`).to.equal(
      `{"kind":"Node","apiVersion":"resources.kapis.io/v1alpha3","metadata":${exactMeta}${exactTail}`,
    )
    expect(objectBytes(entry, platformForm).toString()).to.equal(
      `{"kind":"Node","apiVersion":"v1","metadata":${exactMeta.slice(0, -1)},"selfLink":"/api/v1/nodes/n1"}${exactTail}`,
    )
    expect(objectBytes(entry, managedFieldsForm).toString()).to.equal(
      `{"kind":"Node","apiVersion":"v1","metadata":${exactMeta.slice(0, -1)},"selfLink":"/api/v1/nodes/n1","managedFields":${exactManaged}}${exactTail}`,
    )
    expect(entry.metadata()).to.equal(exactMeta)
  })

  it('preserves other annotations when some are computed', () => {
    const entry = received().decorated({ annotations: { '10': 'mine', computed: '16%' }, cells: [] })
    expect(entry.platformHead().toString()).to.equal(
      `{"kind":"Node","apiVersion":"v1","metadata":${exactMeta
        .replace(annotations, '{"b":"\\u003c","10":"mine","9":"\\u2028","computed":"16%"}')
        .slice(0, -1)},"selfLink":"/api/v1/nodes/n1"}`,
    )
  })

  it('changes only the version for another version', () => {
    const moved = received().at(99)
    expect(moved.metadata()).to.equal(exactMeta.replace('"resourceVersion":"7"', '"resourceVersion":"99"'))
    expect(moved.version).to.equal(99)
  })

  it('has one selfLink and one annotations field, even if the source has more', () => {
    const json =
      '{"metadata":{"selfLink":"/old","name":"n1","uid":"u","resourceVersion":"7","creationTimestamp":""}}'
    const entry = CachedObject.from(servedNodes, JSON.parse(json), json).decorated({
      annotations: { a: 'b' },
      cells: [],
    })
    expect(entry.platformHead().toString()).to.equal(
      '{"kind":"Node","apiVersion":"v1","metadata":{"selfLink":"/api/v1/nodes/n1","name":"n1","uid":"u","resourceVersion":"7","creationTimestamp":"","annotations":{"a":"b"}}',
    )
  })

  it('has one line, with any white space in the source', () => {
    const json = JSON.stringify(full, null, 2)
    const entry = CachedObject.from(servedNodes, full, json)
    expect(objectBytes(entry, platformForm).toString()).to.equal(
      objectBytes(toEntry(servedNodes, full), platformForm).toString(),
    )
  })

  it('uses the metadata that was parsed if there are two', () => {
    const json = `{"metadata":{"name":"other"},"spec":{},"metadata":${JSON.stringify(full.metadata)}}`
    const entry = CachedObject.from(servedNodes, JSON.parse(json), json)
    expect(read(objectBytes(entry, platformForm)).metadata.name).to.equal('n1')
    expect(objectBytes(entry, platformForm).toString()).to.not.contain('other')
  })

  it('accepts an object of any depth', () => {
    const deep = `${'{"a":['.repeat(5_000)}1${']}'.repeat(5_000)}`
    const json = `{"metadata":${JSON.stringify(full.metadata)},"spec":${deep}}`
    const entry = CachedObject.from(servedNodes, JSON.parse(json), json)
    expect(entry.tail.toString()).to.equal(`,"spec":${deep}}`)
  })

  it('omits the fields that its kind hides', () => {
    const hidden = [
      ['spec', 'password'],
      ['metadata', 'annotations', 'last'],
    ]
    const served = { ...servedNodes, kind: { ...servedNodes.kind, hidden } }
    const json = `{"metadata":{"name":"n1","uid":"u","resourceVersion":"7","creationTimestamp":"","annotations":{"last":"secret","a":"b"}},"spec":{"p":1.0,"password":"secret","pass\\u0077ord":"secret"}}`
    const entry = CachedObject.from(served, JSON.parse(json), json)
    expect(objectBytes(entry, platformForm).toString()).to.equal(
      '{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"u","resourceVersion":"7","creationTimestamp":"","annotations":{"a":"b"},"selfLink":"/api/v1/nodes/n1"},"spec":{"p":1.0}}',
    )
    expect(JSON.stringify([entry.meta, entry.parsed()])).to.not.contain('secret')
  })

  it('retains only its own memory, not that of temporary buffers', () => {
    const entry = toEntry(servedNodes, full)
    const { tail, managedFields: managed } = entry
    const head = entry.aggregatedHead()
    for (const bytes of [head, tail, managed]) {
      expect(bytes?.buffer.byteLength).to.equal(head.length + tail.length + (managed?.length ?? 0))
    }
    const shown = entry.platformHead()
    expect(shown.buffer.byteLength).to.equal(shown.length)
  })

  it('is independent of the object from which it was created', () => {
    const spec = { unschedulable: false }
    const entry = toEntry(servedNodes, node('n1', { spec }))
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
    it(`returns ${link}`, () => {
      expect(toSelfLink(of, namespace, 'x')).to.equal(link)
    })
  }
})
