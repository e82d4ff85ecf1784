import { expect } from 'chai'
import { thrownFields } from '../../../apierrors/fixtures.ts'
import { createUploadLimiter } from './upload-limiter.ts'

describe('createUploadLimiter', () => {
  it('limits the sum of all uploads; each counts with its latest size', () => {
    const begin = createUploadLimiter(100)
    const [first, second] = [begin(), begin()]
    first.hold(30)
    second.hold(40)
    first.hold(60)
    expect(thrownFields(() => second.hold(41))).to.include({ code: 429 })
    first.end()
    second.hold(100)
  })
})
