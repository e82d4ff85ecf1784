import { expect } from 'chai'
import { lastAppliedAnnotation, withoutLastApplied } from './last-applied.ts'

describe('withoutLastApplied', () => {
  it('takes away what kubectl keeps of the applied object, and nothing else', () => {
    const metadata = { name: 'a', annotations: { [lastAppliedAnnotation]: '{"spec":{}}', team: 'x' } }
    expect(withoutLastApplied(metadata)).to.deep.equal({ name: 'a', annotations: { team: 'x' } })
    expect(metadata.annotations).to.have.property(lastAppliedAnnotation)
  })

  it('is the same metadata where there is nothing to take away', () => {
    for (const metadata of [{ name: 'a' }, { name: 'a', annotations: { team: 'x' } }])
      expect(withoutLastApplied(metadata)).to.equal(metadata)
  })
})
