import { expect } from 'chai'
import {
  arrayOf,
  boolean,
  customRef,
  integer,
  kubeObject,
  mapOf,
  object,
  oneOfTexts,
  type Schema,
  status,
  text,
} from './schema.ts'
import { rangeText, schemaText } from './schema-text.ts'

describe('schemaText', () => {
  const cases: readonly (readonly [Schema, string])[] = [
    [text(), 'string'],
    [{}, 'anything'],
    [status, 'Status'],
    [customRef('iam.kapis.io', 'v1alpha2', 'User'), 'User'],
    [arrayOf(oneOfTexts(['a', 'b'])), '(a | b)[]'],
    [mapOf(boolean()), 'map of boolean'],
    [object({ a: text(), b: integer() }, ['b']), '{ a: string, b?: integer }'],
    [{ anyOf: [object({ n: integer() }), { type: 'null' }] }, '{ n: integer } | null'],
    [text('', { const: 'x' }), '"x"'],
    [kubeObject, '{ apiVersion?: string, kind?: string, metadata?: ObjectMeta }'],
  ]
  for (const [schema, words] of cases)
    it(`returns ${words}`, () => expect(schemaText(schema)).to.equal(words))
})

describe('rangeText', () => {
  it('returns bounds and default', () => {
    expect(rangeText(integer('', { minimum: 1, maximum: 9, default: 2 }))).to.equal(
      'integer, at least 1, at most 9, default 2',
    )
    expect(rangeText(text('', { maxLength: 5 }))).to.equal('string, at most 5 characters')
    expect(rangeText(boolean('', { default: false }))).to.equal('boolean, default false')
  })
})

describe('customRef', () => {
  it('returns the name under which kube-apiserver describes the kind', () =>
    expect(customRef('iam.kapis.io', 'v1alpha2', 'User')).to.deep.equal({
      $ref: '/openapi/v3/apis/iam.kapis.io/v1alpha2#/components/schemas/io.kapis.iam.v1alpha2.User',
    }))
})
