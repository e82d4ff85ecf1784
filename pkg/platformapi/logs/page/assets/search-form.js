// The form of a search: filters and a range of time.
import { clamp, nowSeconds, toLocal, toUtc } from './times.js'

const filterNames = ['q', 'namespaces', 'workloads', 'pods', 'containers']
const defaultRange = '3600'

/** @param form the element */
export function createSearchForm(form) {
  const { elements } = form
  const isCustom = () => elements.range.value === 'own'

  /** Returns the filters as parameters of the API. */
  function filters() {
    const query = new URLSearchParams()
    for (const name of filterNames) {
      const value = elements[name].value.trim()
      if (value) query.set(name, value)
    }
    return query
  }

  /** Shows the two inputs of a custom range only while it is selected. */
  function showInputs() {
    for (const part of form.querySelectorAll('.own')) part.hidden = !isCustom()
  }

  function setSpan(start, end) {
    elements.range.value = 'own'
    elements.from.value = toLocal(start)
    elements.to.value = toLocal(end)
    showInputs()
  }

  elements.range.addEventListener('change', () => {
    showInputs()
    if (isCustom() && !elements.from.value) setSpan(nowSeconds() - 3600, nowSeconds())
  })

  return {
    elements,
    filters,
    setSpan,

    /** Returns the range in seconds; one relative to now ends now. */
    span() {
      const { range, from, to } = elements
      if (!isCustom()) return { start: nowSeconds() - Number(range.value), end: nowSeconds() }
      const read = (input, fallback) => (input.value ? clamp(Math.floor(Date.parse(input.value) / 1000)) : fallback)
      const end = read(to, nowSeconds())
      return { start: read(from, Math.max(0, end - 3600)), end }
    },

    /** Returns the filters, a span and further parameters, as the query of an API request. */
    toQuery({ start, end }, more) {
      const query = filters()
      for (const [name, value] of Object.entries({ start_time: start, end_time: end, ...more })) query.set(name, value)
      return query
    },

    /** Adds a term that lines must match too. */
    addTerm(term) {
      const before = elements.q.value.trim()
      elements.q.value = [/\bOR\b/.test(before) ? `(${before})` : before, term].filter(Boolean).join(' ')
    },

    /** Returns the filters and the range as parameters of the page's address. */
    toAddress() {
      const query = filters()
      const { range, from, to } = elements
      query.set('range', range.value)
      if (isCustom()) for (const { name, value } of [from, to]) if (value) query.set(name, toUtc(value))
      return query
    },

    /** @param query parameters of the page's address */
    readAddress(query) {
      for (const name of filterNames) elements[name].value = query.get(name) ?? ''
      for (const name of ['from', 'to']) {
        const at = Date.parse(query.get(name) ?? '')
        elements[name].value = Number.isNaN(at) ? '' : toLocal(clamp(at / 1000))
      }
      elements.range.value = query.get('range') ?? defaultRange
      if (elements.range.selectedIndex < 0) elements.range.value = defaultRange
      showInputs()
    },

    getRange: () => [elements.range.value, elements.from.value, elements.to.value],
    setRange([range, from, to]) {
      elements.range.value = range
      elements.from.value = from
      elements.to.value = to
      showInputs()
    },
  }
}
