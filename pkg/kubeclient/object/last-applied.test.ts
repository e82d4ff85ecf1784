import { expect } from 'chai'
import { lastAppliedAnnotation, withoutLastApplied } from './last-applied.ts'

describe('withoutLastApplied', () => {
  it('removes kubectl’s last-applied annotation, and nothing else', () => {
    const metadata = { name: 'a', annotations: { [lastAppliedAnnotation]: '{"spec":{}}', team: 'x' } }
    expect(withoutLastApplied(metadata)).to.deep.equal({ name: 'a', annotations: { team: 'x' } })
    expect(metadata.annotations).to.have.property(lastAppliedAnnotation)
  })

  it('returns the same metadata without the annotation', () => {
    for (const metadata of [{ name: 'a' }, { name: 'a', annotations: { team: 'x' } }])
      expect(withoutLastApplied(metadata)).to.equal(metadata)
  })
})
