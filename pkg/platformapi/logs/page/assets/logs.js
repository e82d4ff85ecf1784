// The log page. Text from logs is put into the document as text (textContent), never as HTML.
import { createColumns } from './columns.js'
import { byId } from './elements.js'
import { toHighlights } from './highlight.js'
import { createHistogram } from './histogram.js'
import { parseRecords } from './log-record.js'
import { createNarrowButtons } from './narrow-buttons.js'
import { createPatterns } from './patterns.js'
import { createRecordList } from './record-list.js'
import { report, request, showError } from './request.js'
import { createSearchForm } from './search-form.js'
import { createSuggestions } from './suggestions.js'
import { toUtc } from './times.js'
import { showTopValues } from './top-values.js'

const pageSize = 100
let running = new AbortController()
let isFollowing = false
/** Where the next page begins; empty on the last one. */
let cursor = ''
/** The cursor of the line that the address links to. */
let linked = ''
/** The ranges before each zoom. */
const zooms = []

const form = createSearchForm(byId('search'))
const suggestions = createSuggestions(form)
const narrowButtons = createNarrowButtons(term => {
  form.addTerm(term)
  zooms.length = 0
  search()
})
const columns = createColumns(() => {
  records.render()
  showValues()
  writeAddress()
})
const records = createRecordList({ columns, narrowButtons, toLink })
const patterns = createPatterns({ form, narrowButtons })
const histogram = createHistogram({
  form,
  onZoom(start, end) {
    zooms.push(form.getRange())
    form.setSpan(start, end)
    search()
  },
})

async function search({ keepAddress = false } = {}) {
  const signal = restart()
  const span = form.span()
  if (!keepAddress) {
    linked = ''
    writeAddress()
  }
  showExport()
  byId('out').hidden = zooms.length === 0
  byId('lines').setAttribute('aria-busy', 'true')
  void patterns.show(span, signal).catch(report)
  await Promise.all([showLines(span, signal), histogram.show(span, signal)]).catch(report)
  byId('lines').setAttribute('aria-busy', 'false')
}

/** Aborts the current search. @returns the abort signal of the next one */
function restart() {
  running.abort()
  running = new AbortController()
  setFollowing(false)
  showError('')
  return running.signal
}

async function requestRecords(span, more, signal) {
  const query = form.toQuery(span, { size: pageSize, with_cursor: true, ...more })
  return parseRecords(await (await request(`/logs/api/records?${query}`, signal)).text()).query
}

async function showLines(span, signal) {
  const highlights = toHighlights(form.elements.q.value)
  const { total, records: found = [] } = await requestRecords(span, {}, signal)
  records.clear(highlights)
  byId('total').textContent = total === 0 ? 'No lines were found.' : `${total.toLocaleString()} lines, the newest first.`
  addPage(found)
  for (let i = 0; linked && !records.open(linked) && cursor && i < 10; i += 1) await showMore()
}

async function showMore() {
  const { records: found = [] } = await requestRecords(form.span(), { cursor }, running.signal)
  addPage(found)
}

function addPage(page) {
  records.append(page)
  cursor = page.length === pageSize ? page.at(-1).cursor : ''
  byId('more').hidden = cursor === ''
  showValues()
}

function showValues() {
  showTopValues(records.shown(), { columns, narrowButtons })
  suggestions.addNamespacesOf(records.shown())
}

function showExport() {
  const format = byId('format').value
  const query = form.toQuery(form.span(), { operation: 'export', format, with_time: true, with_pod: true })
  byId('export').href = `/logs/api/records?${query}`
  byId('export').download = `logs.${format === 'text' ? 'txt' : format}`
}

function setFollowing(follows) {
  isFollowing = follows
  byId('follow').setAttribute('aria-pressed', String(follows))
}

async function toggleFollow() {
  const wasFollowing = isFollowing
  const signal = restart()
  if (wasFollowing) {
    byId('total').textContent = 'Stopped following.'
    return
  }
  setFollowing(true)
  byId('more').hidden = true
  byId('total').textContent = 'Following: new lines come first.'
  try {
    const query = form.filters()
    query.set('follow', 'true')
    query.set('size', '20')
    const response = await request(`/logs/api/records?${query}`, signal)
    records.clear(toHighlights(form.elements.q.value))
    await readLines(response.body, signal)
    if (!signal.aborted) byId('total').textContent = 'The server ended the live tail. Press Follow to continue.'
  } catch (error) {
    if (!signal.aborted) report(error)
  }
  if (!signal.aborted) setFollowing(false)
}

async function readLines(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let rest = ''; !signal.aborted; ) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop()
    records.prepend(lines.filter(Boolean).map(line => parseRecords(line)).reverse())
  }
}

function setWrap(isWrapped) {
  byId('wrap').ariaPressed = String(isWrapped)
  byId('lines').classList.toggle('wrap', isWrapped)
}

function toAddress() {
  const query = form.toAddress()
  if (byId('wrap').ariaPressed === 'true') query.set('wrap', 'true')
  for (const name of columns.names()) query.append('column', name)
  if (patterns.isOpen()) query.set('patterns', 'true')
  return query
}

const writeAddress = () => history.pushState(null, '', `?${toAddress()}`)

/** Returns the address of a line: the search, around its time. */
function toLink(time, lineCursor) {
  const query = toAddress()
  const seconds = Math.floor(Date.parse(time) / 1000)
  query.set('range', 'own')
  query.set('from', toUtc((seconds - 300) * 1000))
  query.set('to', toUtc((seconds + 1) * 1000))
  query.set('line', lineCursor)
  return query
}

function readAddress() {
  const query = new URLSearchParams(location.search)
  form.readAddress(query)
  linked = query.get('line') ?? ''
  setWrap(query.get('wrap') === 'true')
  columns.set(query.getAll('column'))
  patterns.setOpen(query.get('patterns') === 'true')
}

byId('search').addEventListener('submit', event => {
  event.preventDefault()
  zooms.length = 0
  search()
})
form.elements.namespaces.addEventListener('change', () => void suggestions.suggestPods())
byId('follow').addEventListener('click', () => void toggleFollow())
byId('more').addEventListener('click', () => void showMore().catch(report))
byId('format').addEventListener('change', showExport)
byId('wrap').addEventListener('click', () => {
  setWrap(byId('wrap').ariaPressed !== 'true')
  writeAddress()
})
byId('out').addEventListener('click', () => {
  form.setRange(zooms.pop() ?? ['3600', '', ''])
  search()
})
// Listens to clicks and not to `toggle`: if the address opens the patterns, the search reads them.
byId('patterns').querySelector('summary').addEventListener('click', () => {
  setTimeout(() => {
    writeAddress()
    void patterns.show(form.span(), running.signal).catch(report)
  })
})
addEventListener('popstate', () => {
  readAddress()
  search({ keepAddress: true })
})

byId('values').open = matchMedia('(min-width: 60rem)').matches
readAddress()
search({ keepAddress: true }).then(() => Promise.all([suggestions.suggestNamespaces(), suggestions.suggestPods()]))
