import { expect } from 'chai'
import { splitObject } from './source-text.ts'

describe('splitObject', () => {
  const metadata = '{"name":"a","uid":"u"}'
  const table: readonly [string, string, string, string, string][] = [
    [
      'a built-in object',
      `{"kind":"Node","apiVersion":"v1","metadata":${metadata},"spec":{"n":1.0},"status":{}}`,
      metadata,
      '',
      ',"spec":{"n":1.0},"status":{}}',
    ],
    [
      'an item of a list',
      `{"metadata":${metadata},"data":{"b":"","10":"","9":""}}`,
      metadata,
      '',
      ',"data":{"b":"","10":"","9":""}}',
    ],
    [
      'a custom resource with fields before its metadata',
      `{"apiVersion":"a/v1","data":9007199254740993,"kind":"A","items":[1e3],"metadata":${metadata},"z":-0}`,
      metadata,
      '',
      ',"data":9007199254740993,"items":[1e3],"z":-0}',
    ],
    ['only metadata', `{"metadata":${metadata}}`, metadata, '', '}'],
    ['nothing', '{}', '{}', '', '}'],
    [
      'managedFields first',
      '{"metadata":{"managedFields":[{"a":1.0}],"name":"a"},"x":1}',
      '{"name":"a"}',
      '[{"a":1.0}]',
      ',"x":1}',
    ],
    [
      'managedFields between other fields',
      '{"metadata":{"name":"a","managedFields":[],"uid":"u","b":{"managedFields":1}}}',
      '{"name":"a","uid":"u","b":{"managedFields":1}}',
      '[]',
      '}',
    ],
    ['only managedFields', '{"metadata":{"managedFields":null}}', '{}', 'null', '}'],
    ['text after the object', `{"metadata":${metadata},"x":1},"y":{}}`, metadata, '', ',"x":1}'],
  ]
  for (const [what, json, meta, managedFields, tail] of table) {
    it(`splits ${what}`, () => {
      expect(splitObject(json)).to.deep.equal({ metadata: meta, managedFields, tail })
    })
  }

  it('preserves duplicate fields that Kapis does not read', () => {
    expect(splitObject(`{"metadata":${metadata},"x":1,"x":2}`)?.tail).to.equal(',"x":1,"x":2}')
  })

  for (const json of [
    `{"metadata":${metadata},"metadata":${metadata}}`,
    `{"metadata":${metadata},"meta\\u0064ata":${metadata}}`,
    `{"kind":"A","kind":"B","metadata":${metadata}}`,
    '{"metadata":{"name":"a","labels":{},"labels":{}}}',
  ]) {
    it(`returns undefined for duplicate fields in ${json}`, () =>
      expect(splitObject(json)).to.equal(undefined))
  }
})
