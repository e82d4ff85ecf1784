import { ConfigError, parseConfig } from './config.ts'
import { reference } from './reference.ts'

type Schema = { [word: string]: unknown; properties?: Record<string, Schema>; items?: Schema }

/** Makes the parser read members that it leaves alone otherwise. Whether the values are good does not matter here. */
const everything = {
  http: { enabled: true },
  oauth: {
    clients: [
      {
        name: 'any',
        accessTokenMaxAgeSeconds: 60,
        accessTokenInactivityTimeoutSeconds: 60,
        loginMaxAgeSeconds: 60,
      },
    ],
  },
}

/** The JSON Schema (2020-12) of the configuration file, as the parser itself tells it while it reads. */
export function configSchema(): Schema {
  const learned = new Map<string, Schema>()
  try {
    parseConfig(everything, (path, schema) => {
      const general = path.replaceAll(/\[\d+\]/g, '[]')
      if (!learned.has(general)) learned.set(general, { ...schema })
    })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
  }
  for (const { path, text } of reference) {
    const schema = learned.get(path)
    if (schema !== undefined) schema.description = text
  }
  for (const [path, schema] of learned) join(learned, path, schema)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Kapis',
    ...learned.get(''),
  }
}

/** docs/config.schema.json */
export function renderSchema(): string {
  return `${JSON.stringify(configSchema(), null, 2)}\n`
}

/** Hangs a schema into that of the object or list which it is part of. */
function join(all: ReadonlyMap<string, Schema>, path: string, schema: Schema): void {
  if (path === '') return
  if (path.endsWith('[]')) {
    const list = all.get(path.slice(0, -2))
    if (list) list.items = schema
    return
  }
  const dot = path.lastIndexOf('.')
  const owner = all.get(path.slice(0, Math.max(dot, 0)))
  if (owner === undefined) return
  owner.properties = { ...owner.properties, [path.slice(dot + 1)]: schema }
}
