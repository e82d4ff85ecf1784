import { expect } from 'chai'
import { describeOutOfScope } from './out-of-scope.ts'

describe('describeOutOfScope', () => {
  const cases = [
    ['monitoring.kapis.io', 'monitoring is not part of Kapis: ask Prometheus'],
    ['openpitrix.io', 'the app store is not part of Kapis: use Helm'],
    ['monitoring.example.org', undefined],
    ['monitoring.coreos.com', undefined],
    ['iam.kapis.io', undefined],
    ['kapis.io', undefined],
    ['constructor.kapis.io', undefined],
    ['apps', undefined],
    ['', undefined],
  ] as const
  for (const [group, sentence] of cases) {
    it(`says of ${JSON.stringify(group)} ${sentence === undefined ? 'nothing' : 'what to use instead'}`, () => {
      expect(describeOutOfScope(group, 'kapis.io')).to.equal(sentence)
    })
  }
})
