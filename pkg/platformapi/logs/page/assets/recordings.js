// The page of session recordings. Output of containers is put into the document as text (textContent), never as HTML.
import { byId, element } from './elements.js'
import { createPlayer } from './recording-player.js'
import { report, request, showError } from './request.js'
import { toLocalText } from './times.js'

const form = byId('search')
const filters = ['namespace', 'pod', 'user']
const pageSize = 50
let running = new AbortController()
let opening = new AbortController()
let next = ''

/** A permission in one namespace is enough for the path below it. */
function apiPath(namespace, name) {
  const within = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `/logs/api${within}/recordings${name ? `/${encodeURIComponent(name)}` : ''}`
}

function toTime(text) {
  const at = Date.parse(text)
  return Number.isNaN(at) ? text ?? '' : toLocalText(at / 1000)
}

function toLength(start, end) {
  if (end === undefined) return 'no end yet'
  const seconds = Math.max(0, Math.round((Date.parse(end) - Date.parse(start)) / 1000))
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const userOf = ({ user, impersonator }) => (impersonator ? `${user} (by ${impersonator})` : user)
const commandOf = ({ command, subresource }) => (command?.length > 0 ? command.join(' ') : subresource)

function toRow({ metadata, spec, status }) {
  const row = element('li')
  const link = element('a', 'recording')
  const query = new URLSearchParams(location.search)
  query.set('name', metadata.name)
  link.href = `?${query}`
  link.dataset.name = metadata.name
  link.append(
    element('span', 'when', toTime(metadata.creationTimestamp)),
    element('b', 'who', userOf(spec)),
    element('span', 'where', [metadata.namespace, spec.pod, spec.container].filter(Boolean).join('/')),
    element('code', 'command', commandOf(spec)),
    element('span', 'quiet', toLength(metadata.creationTimestamp, status.endTimestamp)),
    element('span', 'quiet', `policy ${spec.policy}`),
  )
  if (status.reason) link.append(element('span', 'level bad', status.reason))
  row.append(link)
  return row
}

/** @param isMore adds the next page to the list */
async function list(isMore, signal) {
  const query = new URLSearchParams({ limit: pageSize })
  for (const name of ['pod', 'user']) if (form.elements[name].value) query.set(name, form.elements[name].value)
  if (isMore) query.set('continue', next)
  const rows = byId('recordings')
  if (!isMore) rows.replaceChildren()
  byId('total').textContent = 'Searching …'
  try {
    const { items, metadata } = await (await request(`${apiPath(form.elements.namespace.value)}?${query}`, signal)).json()
    rows.append(...items.map(toRow))
    next = metadata.continue ?? ''
    const count = rows.children.length
    byId('total').textContent = count === 0 ? 'No recordings were found.' : `${count}${next ? ' or more' : ''}, the newest first`
    byId('more').hidden = next === ''
    markPlayed()
  } catch (error) {
    if (byId('total').textContent === 'Searching …') byId('total').textContent = ''
    throw error
  }
}

function markPlayed() {
  const played = new URLSearchParams(location.search).get('name')
  for (const link of document.querySelectorAll('.recording')) {
    if (link.dataset.name === played) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
}

const player = createPlayer({
  screen: byId('screen'),
  play: byId('play'),
  position: byId('position'),
  time: byId('time'),
  speed: byId('speed'),
  skip: byId('skip'),
})

/** @param name '' closes the player */
async function open(name) {
  opening.abort()
  opening = new AbortController()
  const { signal } = opening
  player.close()
  byId('player').hidden = name === ''
  markPlayed()
  if (name === '') return
  const path = apiPath(form.elements.namespace.value, name)
  byId('played').textContent = 'Loading …'
  byId('facts').textContent = ''
  byId('download').href = path
  byId('download').download = `${name}.cast`
  try {
    const cast = await (await request(path, signal)).text()
    const { title, timestamp, command } = player.open(cast)
    byId('played').textContent = title ?? name
    byId('facts').textContent = [timestamp && toLocalText(timestamp), command].filter(Boolean).join(' · ')
    player.play()
  } catch (error) {
    if (!signal.aborted) byId('played').textContent = 'This recording cannot be played'
    throw error
  }
}

function readAddress() {
  const query = new URLSearchParams(location.search)
  for (const name of filters) form.elements[name].value = query.get(name) ?? ''
  return query
}

/** Shows the search or the recording of the address. */
function start() {
  running.abort()
  running = new AbortController()
  showError('')
  const query = readAddress()
  const { signal } = running
  Promise.allSettled([list(false, signal), open(query.get('name') ?? '')]).then(results => {
    for (const { reason } of results) if (reason !== undefined) report(reason)
  })
}

form.addEventListener('submit', event => {
  event.preventDefault()
  const query = new URLSearchParams()
  for (const name of filters) {
    const value = form.elements[name].value.trim()
    if (value) query.set(name, value)
  }
  history.pushState(null, '', `?${query}`)
  start()
})
byId('recordings').addEventListener('click', event => {
  const link = event.target.closest('.recording')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  history.pushState(null, '', link.getAttribute('href'))
  showError('')
  open(link.dataset.name).catch(report)
  byId('player').scrollIntoView({ block: 'nearest' })
})
byId('more').addEventListener('click', () => list(true, running.signal).catch(report))
addEventListener('popstate', start)
start()
