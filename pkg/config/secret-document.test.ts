import { expect } from 'chai'
import type { KubeObject } from '../kubeclient/object/object.ts'
import type { Problem } from './config-error.ts'
import { readSecretDocument } from './secret-document.ts'

function secret(data: unknown): KubeObject {
  return { metadata: { name: 's', uid: 'u', resourceVersion: '1', creationTimestamp: '' }, data }
}

const encoded = (text: string) => encodedBytes(Buffer.from(text))
const encodedBytes = (bytes: Buffer) => secret({ 'configuration.yaml': bytes.toString('base64') })

describe('readSecretDocument', () => {
  it('parses YAML, and therefore JSON', () => {
    const problems: Problem[] = []
    expect(readSecretDocument(encoded('a: {b: [1, "2"]}'), problems)).to.deep.equal({ a: { b: [1, '2'] } })
    expect(readSecretDocument(encoded('{"a": true}'), problems)).to.deep.equal({ a: true })
    expect(problems).to.deep.equal([])
  })

  const path = 'configuration.yaml'
  const broken: readonly [string, KubeObject, Problem][] = [
    ['no data', secret(undefined), { path, message: 'is required' }],
    ['another key', secret({ other: 'YQ==' }), { path, message: 'is required' }],
    [
      'no YAML',
      encoded('clientSecret: "hunter2\nname: x'),
      { path, message: 'is not valid YAML (MISSING_CHAR at line 2, column 8)' },
    ],
    [
      'bytes of another encoding',
      encodedBytes(Buffer.from('clientSecret: hunter\u00fc', 'latin1')),
      { path, message: 'is not valid UTF-8' },
    ],
    [
      'a duplicate key',
      encoded('clientSecret: hunter2\nclientSecret: hunter3'),
      { path, message: 'is not valid YAML (DUPLICATE_KEY at line 2, column 1)' },
    ],
    [
      'exponentially nested YAML aliases',
      encoded(
        `a: &a [hunter2]\n${['b', 'c', 'd', 'e', 'f']
          .map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdef'[i]}`).join()}]`)
          .join('\n')}`,
      ),
      { path, message: 'has aliases that cannot be resolved' },
    ],
  ]
  for (const [what, object, problem] of broken) {
    it(`names the position of ${what}, and quotes nothing`, () => {
      const problems: Problem[] = []
      expect(readSecretDocument(object, problems)).to.equal(undefined)
      expect(problems).to.deep.equal([problem])
      expect(JSON.stringify(problems)).to.not.contain('hunter')
    })
  }
})
