// The most frequent values of each field in the lines that are shown.
import { byId, element } from './elements.js'
import { fieldsOf, originNames, readable } from './log-record.js'

const mostFields = 30
const mostValues = 5

export function showTopValues(records, { columns, narrowButtons }) {
  const lists = [...countValues(records)].slice(0, mostFields).map(([name, counts]) => {
    const top = [...counts].sort(([, a], [, b]) => b - a).slice(0, mostValues)
    // A field with another value in each line has no frequent values.
    if (counts.size > mostValues && top[0]?.[1] === 1) return []
    const list = element('ul')
    list.append(
      ...top.map(([value, count]) => {
        const item = element('li')
        const text = element('span', '', readable(String(value)))
        text.title = text.textContent
        item.append(text, element('b', '', String(count)), ...narrowButtons.forField(name, value))
        return item
      }),
    )
    const title = element('h3', '', readable(name))
    title.append(columns.toButton(name))
    return [title, list]
  })
  byId('fields').replaceChildren(element('p', 'quiet', `Of the ${records.length} lines below.`), ...lists.flat())
}

/** Returns the number of lines of each value of each field. */
function countValues(records) {
  const counts = new Map()
  const count = (name, value) => {
    const values = counts.get(name) ?? counts.set(name, new Map()).get(name)
    values.set(value, (values.get(value) ?? 0) + 1)
  }
  for (const record of records) {
    for (const name of originNames) if (record[name]) count(name, record[name])
    for (const [name, value] of fieldsOf(record)) if (typeof value !== 'object') count(name, value)
  }
  return counts
}
