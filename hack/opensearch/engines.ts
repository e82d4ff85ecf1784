import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A search engine that can be started here: what it is started by, and the oldest Java that runs it. */
export type Engine = {
  readonly name: string
  readonly version: string
  /** A source beside this file. */
  readonly launcher: 'OpenSearchNode.java' | 'ElasticsearchRunnerNode.java' | 'ElasticsearchNode.java'
  readonly oldestJava: number
  /** Whether it runs Painless, whose module is not published for the later Elasticsearch. */
  readonly hasScripts: boolean
  readonly pom: string
  readonly checksums: string
}

const known = {
  'opensearch-1.3': { launcher: 'OpenSearchNode.java', oldestJava: 17, hasScripts: true },
  'opensearch-2.19': { launcher: 'OpenSearchNode.java', oldestJava: 17, hasScripts: true },
  'opensearch-3.8': { launcher: 'OpenSearchNode.java', oldestJava: 21, hasScripts: true },
  'elasticsearch-7.10': { launcher: 'ElasticsearchRunnerNode.java', oldestJava: 17, hasScripts: true },
  'elasticsearch-7.17': { launcher: 'ElasticsearchNode.java', oldestJava: 17, hasScripts: false },
  'elasticsearch-8.19': { launcher: 'ElasticsearchNode.java', oldestJava: 17, hasScripts: false },
  'elasticsearch-9.5': { launcher: 'ElasticsearchNode.java', oldestJava: 21, hasScripts: false },
} as const

export const engineNames = Object.keys(known)

/** What `make up` and `make test` start unless STORE names another one. */
export const usual = 'opensearch-3.8'

/** @throws Error when there is none of this name */
export function findEngine(given = process.env.STORE): Engine {
  const name = given || usual
  const found = Object.entries(known).find(([each]) => each === name)
  if (found === undefined) throw new Error(`STORE=${name}: must be one of ${engineNames.join(', ')}`)
  const folder = join(import.meta.dirname, name)
  const pom = join(folder, 'pom.xml')
  const version = /<version>(\d[\d.]+)<\/version>\s*<\/dependency>/.exec(readFileSync(pom, 'utf8'))?.[1]
  return { name, version: String(version), ...found[1], pom, checksums: join(folder, 'checksums.txt') }
}
