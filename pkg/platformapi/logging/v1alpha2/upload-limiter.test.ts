import { expect } from 'chai'
import { refusalOf } from '../../../apierrors/fixtures.ts'
import { createUploadLimiter } from './upload-limiter.ts'

describe('createUploadLimiter', () => {
  it('bounds what they take together; each takes what it said last', () => {
    const begin = createUploadLimiter(100)
    const [first, second] = [begin(), begin()]
    first.hold(30)
    second.hold(40)
    first.hold(60)
    expect(refusalOf(() => second.hold(41))).to.include({ code: 429 })
    first.end()
    second.hold(100)
  })
})
