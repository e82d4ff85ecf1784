import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { refuseAmbiguousHost } from './duplicate-host.ts'

describe('refuseAmbiguousHost', () => {
  it('lets one host through, and headers that only look like it', () => {
    for (const rawHeaders of [
      [],
      ['Host', 'a'],
      ['host', 'a', 'Hosts', 'b', 'X-Host', 'c', 'Accept', 'host'],
    ])
      expect(() => refuseAmbiguousHost({ rawHeaders })).to.not.throw()
  })

  it('refuses a second one, the same or not', () => {
    for (const rawHeaders of [
      ['Host', 'a', 'Host', 'b'],
      ['Host', 'a', 'Accept', '*/*', 'hOsT', 'a'],
    ])
      expect(() => refuseAmbiguousHost({ rawHeaders }))
        .to.throw(Status, 'the Host header is given more than once')
        .with.property('code', 400)
  })
})
