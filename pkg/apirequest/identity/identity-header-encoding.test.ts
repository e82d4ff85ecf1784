import { expect } from 'chai'
import {
  decodeExtraKey,
  decodeHeaderText,
  encodeExtraKey,
  encodeHeaderText,
} from './identity-header-encoding.ts'

describe('an extra key in a header name', () => {
  const cases: readonly (readonly [key: string, encoded: string])[] = [
    ['scopes', 'scopes'],
    ['authentication.kubernetes.io/pod-name', 'authentication.kubernetes.io%2fpod-name'],
    ['canonicalArn', 'canonical%41rn'],
    ["a'b(c)*", 'a%27b%28c%29%2a'],
    ['É/%41', '%c3%89%2f%2541'],
    ['a\nb', 'a%0ab'],
  ]
  for (const [key, encoded] of cases) {
    it(`encodes ${JSON.stringify(key)} as ${encoded}, and decodes it again`, () => {
      expect(encodeExtraKey(key)).to.equal(encoded)
      expect(decodeExtraKey(encoded)).to.equal(key)
    })
  }

  it('is lowercased first and then decoded, as in kube-apiserver', () => {
    expect(decodeExtraKey('Acme.com%2FfoO%41')).to.equal('acme.com/fooA')
    expect(decodeExtraKey('Bad%zz')).to.equal('bad%zz')
  })

  it('is undefined if it is not UTF-8', () => {
    expect(decodeExtraKey('a%ff')).to.equal(undefined)
    expect(decodeExtraKey('a%c3%28')).to.equal(undefined)
  })
})

describe('text in a header value', () => {
  it('is sent as UTF-8', () => {
    expect(encodeHeaderText('Jörg')).to.equal('J\u00c3\u00b6rg')
    expect(decodeHeaderText(encodeHeaderText('Jörg'))).to.equal('Jörg')
  })

  it('is undefined if it is not UTF-8', () => {
    expect(decodeHeaderText('a\u00ff')).to.equal(undefined)
  })
})
