import { expect } from 'chai'
import { isCrossOrigin } from './cross-origin.ts'

describe('isCrossOrigin', () => {
  const host = 'kapis.test:9443'
  const same: readonly object[] = [
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    // A proxy replaced the Host header.
    { 'sec-fetch-site': 'same-origin', origin: 'https://console.test' },
    { origin: 'https://console.test', 'x-forwarded-host': 'console.test' },
    { origin: 'https://kapis.test:9443' },
    { origin: 'https://kapis.test:9443', host: 'KAPIS.test:9443' },
  ]
  for (const headers of same)
    it(`returns false for ${JSON.stringify(headers)}`, () =>
      expect(isCrossOrigin({ headers: { host, ...headers } })).to.equal(false))

  const cross: readonly object[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-origin, cross-site' },
    { 'sec-fetch-site': '' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://kapis.test:9443' },
    { origin: 'https://evil.test' },
    { origin: 'https://kapis.test' },
    { origin: 'https://kapis.test:9443.evil.test' },
    { origin: 'null' },
    { origin: 'https://evil.test', host: undefined },
  ]
  for (const headers of cross)
    it(`returns true for ${JSON.stringify(headers)}`, () =>
      expect(isCrossOrigin({ headers: { host, ...headers } })).to.equal(true))
})
