import { expect } from 'chai'
import { thrownStatus } from '../../apierrors/fixtures.ts'
import { parseAccept } from '../../httpserver/request/accept-clause.ts'
import { type AcceptTarget, type NegotiatedMediaType, negotiate } from './accept.ts'

const kubectl =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'
const metadataInformer =
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
const json: NegotiatedMediaType = { media: 'json', as: 'object', version: 'v1', pretty: false }
const mediaTypes = 'only the following media types are accepted: application/json, application/yaml'

describe('negotiate', () => {
  const valid: readonly [string | undefined, AcceptTarget, Partial<NegotiatedMediaType>][] = [
    [undefined, 'list', {}],
    ['', 'list', {}],
    ['*/*', 'object', {}],
    ['*', 'object', {}],
    ['application/*', 'object', {}],
    ['APPLICATION/JSON', 'object', {}],
    ['application/json, */*', 'list', {}],
    ['application/vnd.kubernetes.protobuf,application/json', 'list', {}],
    ['application/yaml', 'object', { media: 'yaml' }],
    ['application/yaml;as=Table;g=meta.k8s.io;v=v1', 'list', { media: 'yaml', as: 'table' }],
    ['application/json;q=0.5,application/yaml', 'object', { media: 'yaml' }],
    ['*/*,application/yaml', 'object', { media: 'yaml' }],
    ['application/yaml;q=0,*/*;q=0.1', 'object', {}],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'list', {}],
    ['application/json;pretty=1', 'object', { pretty: true }],
    ['application/json; charset=utf-8', 'object', {}],
    ['application/json;stream=watch', 'watch', {}],
    ['application/yaml, application/json', 'watch', {}],
    ['application/json;stream=other, application/json;as=Table;g=meta.k8s.io;v=v1', 'watch', { as: 'table' }],
    [kubectl, 'list', { as: 'table' }],
    [kubectl, 'object', { as: 'table' }],
    [kubectl, 'watch', { as: 'table' }],
    ['application/json;g=meta.k8s.io;as=Table;v=v1beta1', 'list', { as: 'table', version: 'v1beta1' }],
    ['application/json;g="meta.k8s.io";as="Table";v="v1"', 'list', { as: 'table' }],
    ['application/json;as=Unknown;g=meta.k8s.io;v=v1,application/json', 'list', {}],
    ['application/json;as=Table;g=meta.k8s.io;v=v2,application/json', 'list', {}],
    ['application/json;as=Table;v=v1,application/json', 'list', {}],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'object', { as: 'partial' }],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'watch', { as: 'partial' }],
    [metadataInformer, 'list', { as: 'partialList' }],
  ]
  for (const [accept, target, expected] of valid) {
    it(`selects ${JSON.stringify(expected)} for ${accept} and a ${target}`, () => {
      expect(negotiate(accept, target)).to.deep.equal({ ...json, ...expected })
      expect(negotiate(accept, target), 'from memory').to.deep.equal({ ...json, ...expected })
    })
  }

  const refused: readonly [string, AcceptTarget, string][] = [
    ['text/html', 'object', mediaTypes],
    ['application/vnd.kubernetes.protobuf', 'list', mediaTypes],
    ['application/json;q=0', 'list', mediaTypes],
    ['application/json;q=x', 'list', mediaTypes],
    ['application/json;as=Unknown;g=meta.k8s.io;v=v1', 'list', mediaTypes],
    ['application/json;as=constructor;g=meta.k8s.io;v=v1', 'list', mediaTypes],
    ['application/json/extra', 'list', mediaTypes],
    [';;;,,,', 'list', mediaTypes],
    [
      'application/yaml',
      'watch',
      'only the following media types are accepted: application/json;stream=watch',
    ],
    [
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
      'list',
      'you requested PartialObjectMetadata, but the requested object is a list',
    ],
    [
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      'object',
      'you requested PartialObjectMetadataList, but the requested object is not a list',
    ],
  ]
  for (const [accept, target, message] of refused) {
    it(`rejects ${accept} for a ${target}`, () => {
      const errors = [1, 2].map(() => thrownStatus(() => negotiate(accept, target)))
      for (const error of errors) {
        expect(error).to.include({ code: 406, reason: 'NotAcceptable', message })
      }
      expect(errors[0]).to.not.equal(errors[1])
    })
  }

  it('limits its cache', () => {
    for (let i = 0; i < 2_000; i++) expect(negotiate(`application/json;x=${i}`, 'object')).to.deep.equal(json)
  })
})

describe('parseAccept', () => {
  it('preserves the order of equal weights', () => {
    const clauses = parseAccept('a/b, c/d;q=0.5, e/f, */*;q=1, g/*')
    expect(clauses.map(c => `${c.type}/${c.subtype}`)).to.deep.equal(['a/b', 'e/f', 'g/*', '*/*', 'c/d'])
  })

  it('parses at most 64 clauses', () => {
    expect(parseAccept('a/b,'.repeat(10_000))).to.have.length(64)
  })
})
