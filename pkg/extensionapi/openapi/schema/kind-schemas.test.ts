import { expect } from 'chai'
import { schemasOfKinds } from './kind-schemas.ts'

const source = { group: 'example.org', version: 'v1' }
const is = (kind: string, group = source.group) => ({
  'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
})
const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const schemas = {
  'org.other.v1.Widget': { ...is('Widget', 'other.org'), type: 'string' },
  'org.example.v1.Widget': {
    ...is('Widget'),
    type: 'object',
    description: 'A widget.',
    required: ['spec'],
    properties: {
      metadata: { description: 'Its name.', default: {}, allOf: [refTo(`${meta}.ObjectMeta`)], 'x-own': 1 },
      spec: refTo('org.example.v1.WidgetSpec'),
    },
  },
  'org.example.v1.WidgetSpec': {
    type: 'object',
    properties: {
      size: refTo('org.example.v1.Size'),
      mode: { type: 'string', enum: ['a', 'b'], default: 'a', nullable: true, maxLength: 9, other: 1 },
      parts: {
        type: 'array',
        items: { default: {}, allOf: [refTo('org.example.v1.Status')] },
        'x-kubernetes-list-type': 'atomic',
      },
      again: { type: 'object', additionalProperties: refTo('org.example.v1.WidgetSpec') },
    },
  },
  'org.example.v1.Size': { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  'org.example.v1.Status': { type: 'number' },
  'org.example.v1.Unused': { type: 'object' },
  [`${meta}.ObjectMeta`]: { type: 'object', properties: { name: { type: 'string' } } },
}

describe('schemasOfKinds', () => {
  it('returns a kind with all referenced schemas, under short names', () => {
    const found = schemasOfKinds([{ kind: 'Widget', source }], [{ components: { schemas } }])
    expect(found).to.deep.equal({
      Widget: {
        type: 'object',
        description: 'A widget.',
        required: ['spec'],
        properties: {
          metadata: { ref: 'ObjectMeta', description: 'Its name.', default: {}, extensions: { 'x-own': 1 } },
          spec: { ref: 'WidgetSpec' },
        },
      },
      ObjectMeta: { type: 'object', properties: { name: { type: 'string' } } },
      WidgetSpec: {
        type: 'object',
        properties: {
          size: { ref: 'Size' },
          mode: { type: 'string', enum: ['a', 'b'], default: 'a', nullable: true, limits: { maxLength: 9 } },
          // Status is that of apimachinery, which responses of all operations use.
          parts: {
            type: 'array',
            items: { ref: 'OrgExampleV1Status', default: {} },
            extensions: { 'x-kubernetes-list-type': 'atomic' },
          },
          again: { type: 'object', additionalProperties: { ref: 'WidgetSpec' } },
        },
      },
      Size: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
      OrgExampleV1Status: { type: 'number' },
    })
  })

  it('omits a kind without a schema, and accepts any document', () => {
    for (const document of [{}, null, 'text', { components: { schemas: [1] } }])
      expect(schemasOfKinds([{ kind: 'Widget', source }], [document])).to.deep.equal({})
  })

  it('resolves a reference to a missing schema to an empty schema', () => {
    const broken = { W: { ...is('Widget'), properties: { a: refTo('none.such.Thing') } } }
    expect(schemasOfKinds([{ kind: 'Widget', source }], [{ components: { schemas: broken } }])).to.deep.equal(
      {
        Widget: { properties: { a: { ref: 'Thing' } } },
        Thing: {},
      },
    )
  })
})
