// Names that the inputs of the form suggest. Users who may not list an object type its name.
import { byId, element } from './elements.js'

export function createSuggestions(form) {
  /** Namespaces that exist, and those that are deleted but have lines of the last day. */
  let namespaces = []

  async function suggestDeletedNamespaces() {
    const isShort = namespaces.length > 0 && namespaces.length < 1500
    const others = isShort ? ` -namespace:in(${namespaces.map(name => JSON.stringify(name)).join(',')})` : ''
    const query = new URLSearchParams({ query: `_time:1d namespace:*${others} | limit 1000`, field: 'namespace', limit: '50' })
    const response = await fetch(`/logs/api/values?${query}`).catch(() => undefined)
    if (!response?.ok) return
    namespaces.push(...(await response.json()).values.map(({ value }) => value))
    suggest('namespaces', namespaces)
  }

  return {
    async suggestNamespaces() {
      const items = await listItems('/logs/api/namespaces?limit=-1')
      namespaces = items.map(({ metadata }) => metadata.name)
      suggest('namespaces', namespaces)
      await suggestDeletedNamespaces()
    },

    addNamespacesOf(records) {
      suggest('namespaces', [...namespaces, ...records.map(({ namespace }) => namespace)])
    },

    async suggestPods() {
      const namespace = form.elements.namespaces.value.trim()
      const isName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace)
      const items = isName ? await listItems(`/logs/api/namespaces/${namespace}/pods?limit=500`) : []
      suggest('pods', items.map(({ metadata }) => metadata.name))
      suggest('containers', items.flatMap(({ spec }) => (spec?.containers ?? []).map(({ name }) => name)))
      suggest('workloads', items.flatMap(({ metadata }) => (metadata.ownerReferences ?? []).map(toWorkload)))
    },
  }
}

/** Returns the name of the Deployment for a ReplicaSet. */
const toWorkload = ({ kind, name }) => (kind === 'ReplicaSet' ? name.replace(/-[a-z0-9]+$/, '') : name)

function suggest(list, names) {
  const options = [...new Set(names)].filter(Boolean).sort().map(name => Object.assign(element('option'), { value: name }))
  byId(list).replaceChildren(...options)
}

async function listItems(path) {
  const response = await fetch(path).catch(() => undefined)
  return response?.ok ? (await response.json()).items : []
}
