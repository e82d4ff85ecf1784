// The buttons "Only" and "Not", which narrow a search.
import { button } from './elements.js'
import { readable, textOf } from './log-record.js'

const quote = text => `"${text.replace(/["\\]/g, '\\$&')}"`

/** @param narrow receives the term to add to the query */
export function createNarrowButtons(narrow) {
  function forTerm(term, label) {
    return [
      button('Only', () => narrow(term), `Only lines with ${label}`),
      button('Not', () => narrow(`NOT ${term}`), `No lines with ${label}`),
    ]
  }

  return {
    forTerm,
    /** Returns no buttons for values that the query language cannot express. */
    forField(name, value) {
      const text = textOf(value)
      const isTerm = typeof value !== 'object' && text !== '' && text.length + name.length <= 400
      if (name === 'time' || !isTerm) return []
      const isPlain = /^[a-z_][\w.-]*$/i.test(name)
      return forTerm(`${isPlain ? name : quote(name)}:${quote(text)}`, `${readable(name)} ${readable(text)}`)
    },
  }
}
