// The lines that the same container wrote before and after a line, regardless of the search.
import { button, element } from './elements.js'
import { readable } from './log-record.js'
import { report, request, showError } from './request.js'

const linesAround = 5

export function toContextButton(record) {
  const made = button('Context', () => void toggle(made, record).catch(report))
  made.classList.add('context')
  made.setAttribute('aria-expanded', 'false')
  return made
}

async function toggle(made, record) {
  const isOpen = made.getAttribute('aria-expanded') === 'true'
  made.setAttribute('aria-expanded', String(!isOpen))
  if (isOpen) {
    made.nextElementSibling?.remove()
    return
  }
  showError('')
  const lines = element('ol', 'around')
  lines.setAttribute('aria-label', 'The lines around it')
  made.after(lines)
  const { cursor, namespace = '', pod = '', container = '' } = record
  const origin = { namespaces: namespace, pods: pod, containers: container }
  const query = new URLSearchParams({ operation: 'context', cursor, ...origin, before: linesAround, after: linesAround })
  try {
    const { before, after } = (await (await request(`/logs/api/records?${query}`)).json()).context
    lines.append(...[...before, record, ...after].map(toLine))
    lines.children[before.length].setAttribute('aria-current', 'true')
  } catch (error) {
    lines.remove()
    made.setAttribute('aria-expanded', 'false')
    throw error
  }
}

function toLine({ time = '', log = '' }) {
  const item = element('li')
  const when = element('time', 'where', time)
  when.dateTime = time
  item.append(when, element('span', 'said', readable(log)))
  return item
}
