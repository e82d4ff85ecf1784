import { expect } from 'chai'
import { defaultLimits } from '../limits.ts'
import { type FlatFields, flatten } from './flatten.ts'
import { createNotes } from './line-notes.ts'
import { toRecord } from './line-record.ts'
import { createSharing } from './shared-fields.ts'

const file = `/var/log/containers/web-0_shop_web-${'a'.repeat(64)}.log`

describe('createSharing', () => {
  const share = (sharedBytes: number, labels: Readonly<Record<string, string>>) => {
    const limits = { ...defaultLimits, sharedBytes }
    const [flat, notes]: [FlatFields, ReturnType<typeof createNotes>] = [new Map(), createNotes()]
    for (const [name, value] of Object.entries(labels)) flatten(flat, name, value, notes, limits)
    return createSharing(limits)(flat, notes)
  }
  const read = (given: FlatFields, shared: ReturnType<typeof share>) => {
    const notes = createNotes()
    shared.addTo(given, notes)
    return toRecord({ timeNs: 1n, log: 'x' }, given, defaultLimits, notes)
  }

  for (const name of ['filename', 'log.file.path', 'tag', '_flb-key']) {
    it(`finds the origin of lines by ${name}, also beyond the limit of shared fields`, () => {
      const { record, notes } = read(new Map(), share(10, { [name]: file, job: 'a' }))
      const { namespace, pod, container, fields } = record
      expect([namespace, pod, container, fields]).to.deep.equal(['shop', 'web-0', 'web', undefined])
      expect(notes).to.deep.equal(['field_omitted'])
    })
  }

  it('prefers the field of the line to a shared field of the same name', () => {
    const { record } = read(new Map([['path', '/cart']]), share(1_000, { path: '/all' }))
    expect(record.fields).to.deep.equal({ path: ['/cart', '/all'] })
  })

  it('prefers the origin that the line itself contains', () => {
    const own: FlatFields = new Map([['k8s.pod.name', 'own']])
    const { record } = read(own, share(1_000, { 'k8s.pod.name': 'shared', 'k8s.namespace.name': 'shop' }))
    expect([record.namespace, record.pod]).to.deep.equal(['shop', 'own'])
  })
})
