import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The pom.xml of libraries that Maven resolves, and their checksums. */
export type Libraries = {
  readonly name: string
  readonly version: string
  readonly pom: string
  readonly checksums: string
}

/** A search engine that can be started here: its libraries, main class and minimum Java version. */
export type Engine = Libraries & {
  /** Name of a source file in this folder. */
  readonly launcher: 'OpenSearchNode.java' | 'ElasticsearchRunnerNode.java' | 'ElasticsearchNode.java'
  readonly oldestJava: number
  /** Whether it supports Painless, which is not published for newer Elasticsearch. */
  readonly hasScripts: boolean
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

/** The default engine of `make up` and `make test`; STORE selects another. */
export const defaultEngine = 'opensearch-3.8'

/** Returns the engine with this name. @throws Error for an unknown name */
export function findEngine(storeName = process.env.STORE): Engine {
  const name = storeName || defaultEngine
  const found = Object.entries(known).find(([each]) => each === name)
  if (found === undefined) throw new Error(`STORE=${name}: must be one of ${engineNames.join(', ')}`)
  const { pom, checksums } = filesOf(name)
  const version = /<version>(\d[\d.]+)<\/version>\s*<\/dependency>/.exec(readFileSync(pom, 'utf8'))?.[1]
  return { name, version: String(version), ...found[1], pom, checksums }
}

/** Returns the engine that also starts with TLS, users and API keys, and its libraries. */
export function findSecuredEngine(): { readonly engine: Engine; readonly security: Libraries } {
  const engine = findEngine('elasticsearch-9.5')
  const name = `${engine.name}-security`
  return { engine, security: { name, version: `${engine.version}-security`, ...filesOf(name) } }
}

function filesOf(name: string): Pick<Libraries, 'pom' | 'checksums'> {
  const folder = join(import.meta.dirname, name)
  return { pom: join(folder, 'pom.xml'), checksums: join(folder, 'checksums.txt') }
}
