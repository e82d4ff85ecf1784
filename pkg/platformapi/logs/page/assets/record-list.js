// The lines of a search. Each can be expanded to show its fields.
import { toContextButton } from './context-lines.js'
import { button, byId, element } from './elements.js'
import { appendHighlighted } from './highlight.js'
import { fieldsOf, levelOf, originNames, readable, textOf } from './log-record.js'
import { report } from './request.js'
import { toLocal } from './times.js'

const mostLines = 1000

/** @param toLink returns the address of a line, from its time and cursor */
export function createRecordList({ columns, narrowButtons, toLink }) {
  const list = byId('lines')
  let shown = []
  let highlights

  function toItem(record) {
    const { time = '', pod, log = '', cursor } = record
    const item = element('li')
    const details = element('details')
    const summary = element('summary')
    const where = element('span', 'where')
    where.append(toTime(time))
    const line = element('span', 'line')
    const text = element('span', 'text')
    if (pod) line.append(element('i', '', readable(pod)))
    appendHighlighted(text, readable(log), highlights)
    line.append(text)
    summary.append(where, toLevel(levelOf(record)), ...columns.toCells(record), line)
    summary.title = originNames.map(name => record[name]).filter(Boolean).map(readable).join('/')
    details.append(summary)
    // Most lines are never opened.
    details.addEventListener('toggle', () => details.children.length > 1 || details.append(toDetail(record)))
    if (cursor) details.dataset.cursor = cursor
    item.append(details)
    return item
  }

  function toDetail(record) {
    const { time = '', log = '', cursor } = record
    const detail = element('div', 'detail')
    const tools = element('div', 'tools')
    const copy = button('Copy', async () => {
      await navigator.clipboard.writeText(log.replace(/\r?\n$/, '')).catch(report)
      copy.textContent = 'Copied'
    })
    tools.append(copy)
    if (cursor) {
      const link = element('a', 'button plain', 'Link to this line')
      link.href = `?${toLink(time, cursor)}`
      tools.append(link, toContextButton(record))
    }
    const chips = element('ul')
    chips.setAttribute('aria-label', 'Fields')
    const origin = originNames.filter(name => record[name]).map(name => [name, record[name]])
    for (const [name, value] of [['time', time], ...origin, ...fieldsOf(record)]) {
      const chip = element('li', 'chip')
      const label = element('b', '', readable(name))
      chip.append(label, element('span', '', readable(textOf(value))), ...narrowButtons.forField(name, value))
      chips.append(chip)
    }
    detail.append(chips, tools)
    return detail
  }

  return {
    shown: () => shown,

    /** Renders the lines again, after the columns have changed. */
    render: () => list.replaceChildren(...shown.map(toItem)),

    /** @param pattern highlighted in the lines that follow */
    clear(pattern) {
      highlights = pattern
      shown = []
      list.replaceChildren()
    },

    append(records) {
      list.append(...records.map(toItem))
      shown.push(...records)
    },

    /** Adds newer lines, and drops the oldest beyond a limit. */
    prepend(records) {
      list.prepend(...records.map(toItem))
      shown = [...records, ...shown].slice(0, mostLines)
      while (list.children.length > mostLines) list.lastChild.remove()
    },

    /** Opens the line with a cursor. @returns false if it is not shown */
    open(cursor) {
      const details = [...list.querySelectorAll('details')].find(({ dataset }) => dataset.cursor === cursor)
      if (!details) return false
      details.open = true
      details.querySelector('summary').focus()
      details.scrollIntoView({ block: 'center' })
      return true
    },
  }
}

/** Returns local time, as in the histogram and in the form. */
function toTime(time) {
  const milliseconds = (/\.\d{1,3}/.exec(time)?.[0] ?? '').padEnd(4, ' ')
  const text = time && toLocal(Date.parse(time) / 1000).slice(5).replace('T', ' ') + milliseconds
  const when = element('time', '', text)
  when.dateTime = time
  when.title = time
  return when
}

function toLevel(level) {
  const kind = /^(?:f|e|crit|panic|alert)/i.test(level) ? 'bad' : /^w/i.test(level) ? 'warn' : ''
  return element('span', level ? `level ${kind}` : '', readable(level))
}
