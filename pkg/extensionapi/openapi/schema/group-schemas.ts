import { isListed, type ServedGroup, type ServedResource } from '../../discovery/served-group.ts'
import { metaSchemas, typeMeta } from './meta.ts'
import { anyObject, array, ref, refsOf, type Schema, type Schemas } from './schema.ts'

/** Schemas of responses, to which no kind refers. */
const roots = ['Status', 'WatchEvent']

/**
 * Returns all schemas of a group: its kinds, their lists, and all referenced schemas.
 *
 * @param known schemas of kinds and their references; a kind without a schema becomes an object
 * with any fields
 */
export function schemasOfGroup({ resources, schemas }: ServedGroup, known: Schemas): Schemas {
  const all: Record<string, Schema> = { ...metaSchemas, ...schemas, ...known }
  for (const resource of resources) {
    all[resource.kind] = kindSchema(resource, all[resource.kind])
    if (isListed(resource)) all[`${resource.kind}List`] = listSchema(resource)
  }
  const reachable = new Set<string>()
  const kinds = resources.map(resource => (isListed(resource) ? `${resource.kind}List` : resource.kind))
  for (const name of [...kinds, ...roots]) reach(name, all, reachable)
  return Object.fromEntries([...reachable].sort().map(name => [name, schemaOf(name, all)]))
}

function kindSchema(
  { kind }: ServedResource,
  body: Schema = anyObject(`An object of kind ${kind}.`),
): Schema {
  const metadata = ref('ObjectMeta', 'Standard metadata of the object.')
  return { ...body, properties: { ...typeMeta, metadata, ...body.properties } }
}

function listSchema({ kind }: ServedResource): Schema {
  const items = array('The objects.', ref(kind))
  const metadata = ref('ListMeta', 'Standard metadata of the list.')
  const properties = { ...typeMeta, metadata, items }
  return { type: 'object', description: `A list of ${kind} objects.`, required: ['items'], properties }
}

function reach(name: string, all: Schemas, reached: Set<string>): void {
  if (reached.has(name)) return
  reached.add(name)
  for (const next of refsOf(schemaOf(name, all))) reach(next, all, reached)
}

function schemaOf(name: string, all: Schemas): Schema {
  const schema = all[name]
  if (schema === undefined) throw new Error(`reference to the unknown schema ${name}`)
  return schema
}
