import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { defaultEngine, engineNames, findEngine, findSecuredEngine } from './engines.ts'

describe('findEngine', () => {
  for (const name of engineNames) {
    it(`finds ${name}, and pins its server version`, () => {
      const { version, checksums } = findEngine(name)
      const [engine = '', minor = ''] = name.split('-')
      expect(version).to.match(new RegExp(`^${minor.replace('.', '\\.')}\\.`))
      const lines = readFileSync(checksums, 'utf8').trim().split('\n')
      const server = lines.filter(
        line => /^[0-9a-f]{64} {2}/.test(line) && line.includes(`  ${engine}-${minor}.`),
      )
      expect(server).to.have.length(1)
      expect(lines.every(line => /^[0-9a-f]{64} {2}[\w.-]+\.jar$/.test(line))).to.equal(true)
    })
  }

  it('returns OpenSearch 3 without a name', () => {
    expect(findEngine('').name).to.equal(defaultEngine)
  })

  it('lists all names in the error for an unknown one', () => {
    expect(() => findEngine('solr-9')).to.throw(
      'STORE=solr-9: must be one of opensearch-1.3, opensearch-2.19, opensearch-3.8, elasticsearch-7.10, elasticsearch-7.17, elasticsearch-8.19, elasticsearch-9.5',
    )
  })
})

describe('findSecuredEngine', () => {
  it('pins a security plugin of the same version as the server, without its duplicate libraries', () => {
    const { engine, security } = findSecuredEngine()
    const names = (file: string) => readFileSync(file, 'utf8').trim().split('\n').map(toName)
    expect(names(security.checksums)).to.include(`x-pack-security-${engine.version}.jar`)
    // Elasticsearch rejects a module that contains a class of the server.
    expect(names(security.checksums).filter(name => names(engine.checksums).includes(name))).to.deep.equal([])
    expect(security.version).to.not.equal(engine.version)
  })
})

function toName(line: string): string {
  expect(line).to.match(/^[0-9a-f]{64} {2}[\w.-]+\.jar$/)
  return line.slice(66)
}
