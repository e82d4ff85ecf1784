import { expect } from 'chai'
import { parseConfig } from '../config.ts'
import { ConfigError, type Problem } from '../config-error.ts'

function problemsOf(logs: object): readonly Problem[] {
  try {
    parseConfig({ logs })
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('logs', () => {
  const refusedLogs: readonly [logs: object, path: string, message: string][] = [
    [{ store: 'disk' }, 'logs.store', 'must be one of none, embedded, opensearch'],
    [
      { store: 'opensearch' },
      'logs.opensearch.url',
      'must be an http(s) URL without user, path or query, such as https://opensearch:9200',
    ],
    [
      { opensearch: { url: 'https://a:b@c' } },
      'logs.opensearch.url',
      'must be an http(s) URL without user, path or query, such as https://opensearch:9200',
    ],
    [{ opensearch: { password: 'x' } }, 'logs.opensearch.password', 'requires logs.opensearch.username'],
    [
      { opensearch: { username: 'a', apiKey: 'x' } },
      'logs.opensearch.apiKey',
      'cannot be combined with logs.opensearch.username',
    ],
    [
      { embedded: { retentionDays: 0 } },
      'logs.embedded.retentionDays',
      'must be a whole number from 1 to 3650, not 0',
    ],
    [
      {
        embedded: {
          retentionDays: 8,
          namespaces: [
            { name: 'a', retentionDays: 8 },
            { name: 'b', retentionDays: 9 },
          ],
        },
      },
      'logs.embedded.namespaces[1].retentionDays',
      'must be at most logs.embedded.retentionDays (8), not 9',
    ],
    [
      { embedded: { namespaces: [{ name: '*', quotaMegabytes: '500Mi' }] } },
      'logs.embedded.namespaces[0].quotaMegabytes',
      'must be a whole number from 1 to 1000000000, not "500Mi"',
    ],
    [
      { recordings: { policies: [{ name: 'all' }] } },
      'logs.recordings.policies',
      'requires a log store (logs.store)',
    ],
    [
      { store: 'embedded', recordings: { policies: [{ namespaces: ['shop'] }] } },
      'logs.recordings.policies[0].name',
      'is required',
    ],
    [
      { store: 'embedded', recordings: { policies: [{ name: 'a', namespaces: ['Shop'] }] } },
      'logs.recordings.policies[0].namespaces[0]',
      'must be a name of a namespace, with * for any characters',
    ],
    [
      { opensearch: { indexPrefix: 'A*' } },
      'logs.opensearch.indexPrefix',
      'must be lower-case letters, digits, - and _, not "A*"',
    ],
  ]
  for (const [logs, path, message] of refusedLogs) {
    it(`rejects ${JSON.stringify(logs)}`, () => {
      expect(problemsOf(logs)).to.deep.equal([{ path, message }])
    })
  }

  it('separates the credentials of the log store from the printable configuration', () => {
    const { config, secrets } = parseConfig({ logs: { opensearch: { username: 'kapis', password: 'p-1' } } })
    expect(secrets.logStore).to.deep.equal({ password: 'p-1', apiKey: '' })
    expect(JSON.stringify(config)).to.not.include('p-1')
  })
})
