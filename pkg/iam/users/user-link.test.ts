import { expect } from 'chai'
import { linkAnnotation, readLinks } from './user-link.ts'

const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' }

describe('readLinks', () => {
  const cases: readonly [string, object, readonly object[]][] = [
    ['nothing', {}, []],
    [
      'several annotations',
      {
        annotations: {
          [linkAnnotation('kapis.io', 'ldap')]: 'alice',
          'iam.kapis.io/identity-provider.git.hub': '7',
          'iam.kapis.io/other': 'x',
        },
      },
      [
        { provider: 'ldap', uid: 'alice' },
        { provider: 'git.hub', uid: '7' },
      ],
    ],
    [
      'no annotation of another domain',
      { annotations: { 'iam.example.com/identity-provider.ldap': 'alice' } },
      [],
    ],
    ['no empty annotation', { annotations: { 'iam.kapis.io/identity-provider.ldap': '' } }, []],
    [
      'the labels of KubeSphere',
      { labels: { 'iam.kapis.io/identify-provider': 'ldap', 'iam.kapis.io/origin-uid': 'alice' } },
      [{ provider: 'ldap', uid: 'alice' }],
    ],
    ['no incomplete labels', { labels: { 'iam.kapis.io/origin-uid': 'alice' } }, []],
    [
      'the annotation instead of the labels',
      {
        annotations: { 'iam.kapis.io/identity-provider.ldap': 'bob' },
        labels: { 'iam.kapis.io/identify-provider': 'ldap', 'iam.kapis.io/origin-uid': 'alice' },
      },
      [{ provider: 'ldap', uid: 'bob' }],
    ],
  ]
  for (const [what, more, links] of cases) {
    it(`parses ${what}`, () => {
      expect(readLinks({ ...metadata, ...more }, 'kapis.io')).to.deep.equal(links)
    })
  }
})
