// Counts of similar lines.
import { byId, element } from './elements.js'
import { readable } from './log-record.js'
import { request } from './request.js'

const mostPatterns = 50

export function createPatterns({ form, narrowButtons }) {
  const details = byId('patterns')
  let running = new AbortController()

  function toItem({ pattern, count }) {
    const item = element('li')
    const text = element('code')
    for (const part of readable(pattern).split(/(<\*>)/)) text.append(part === '<*>' ? element('i', '', part) : part)
    item.append(element('b', '', count.toLocaleString()), text, ...toButtons(pattern))
    return item
  }

  /** Returns buttons for the lines that have the words of a pattern; adjacent words are a phrase. */
  function toButtons(pattern) {
    const runs = pattern.split('<*>').map(part => (part.match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')).filter(Boolean)
    if (runs.length === 0) return [element('span'), element('span')]
    const phrases = [...new Set(runs)].slice(0, 20).map(run => `"${run.slice(0, 200)}"`)
    const term = phrases.length === 1 ? phrases[0] : `(${phrases.join(' ')})`
    return narrowButtons.forTerm(term, `the words of ${readable(pattern).slice(0, 200)}`)
  }

  return {
    isOpen: () => details.open,
    setOpen(isOpen) {
      details.open = isOpen
    },

    /** Requests the patterns of a search if they are open: the server reads all its lines. */
    async show(span, searching) {
      running.abort()
      const current = new AbortController()
      running = current
      const [list, note] = [byId('shapes'), byId('patterns-note')]
      list.replaceChildren()
      note.textContent = ''
      if (!details.open) return
      note.textContent = 'Reading all lines of the search …'
      try {
        const query = form.toQuery(span, { operation: 'patterns', size: mostPatterns })
        const signal = AbortSignal.any([searching, current.signal])
        const { patterns } = await (await request(`/logs/api/records?${query}`, signal)).json()
        list.append(...patterns.map(toItem))
        note.textContent =
          patterns.length === 0
            ? 'No lines were found.'
            : `${patterns.length} patterns, the most frequent first; <*> stands for what differs.`
      } catch (error) {
        if (running === current) note.textContent = ''
        throw error
      }
    },
  }
}
