import { expect } from 'chai'
import { toFormTarget } from './csp-form-action.ts'

describe('toFormTarget', () => {
  const table: readonly [string, string][] = [
    ['https://app.test/cb?x=1', 'https://app.test'],
    ['https://app.test:8443/cb', 'https://app.test:8443'],
    ['http://127.0.0.1:51004/cb', 'http://127.0.0.1:51004'],
    ['http://[::1]:51004/cb', 'http:'],
    ['com.example.app:/cb', 'com.example.app:'],
    ['https://ex;ample.test/', 'https:'],
  ]
  for (const [uri, source] of table) it(uri, () => expect(toFormTarget(uri)).to.equal(source))
})
