// The log page. Whatever comes from a log is put into the document as text (textContent), never as HTML.
import { byId, element, report, request, showError } from './request.js'

{
  const form = byId('search')
  const texts = ['q', 'namespaces', 'workloads', 'pods', 'containers']
  const pageSize = 100
  const mostLines = 1000
  const mostBars = 60
  const steps = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 21600, 86400, 604800]
  let cursor = ''
  let running = new AbortController()
  let counting = new AbortController()
  let isFollowing = false
  /** The cursor of the line that the address leads to. */
  let linked = ''
  let shown = []
  let marked
  const zooms = []
  let spanText = ''
  /** Namespaces that are there. */
  let known = []
  /** The fields that lines show in columns. */
  let columns = []
  const mostColumns = 8

  // Escape sequences of terminals are taken out; other control characters, and those that turn the direction of text round, are shown.
  const readable = text =>
    text
      .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g, '')
      .replace(/\r?\n$/, '')
      .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')

  // Rounded up: what came in this second is part of what there is now.
  const nowSeconds = () => Math.ceil(Date.now() / 1000)
  const pad = number => String(number).padStart(2, '0')
  function toLocal(seconds) {
    const at = new Date(seconds * 1000)
    const date = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join('-')
    return `${date}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`
  }
  const say = seconds => toLocal(seconds).replace('T', ' ')

  // The API takes no earlier and no later times.
  const lastSecond = 9_999_999_999
  const inRange = seconds => Math.min(Math.max(seconds, 0), lastSecond)

  function span() {
    const { range, from, to } = form.elements
    if (range.value !== 'own') return { start: nowSeconds() - Number(range.value), end: nowSeconds() }
    const read = (input, other) => (input.value ? inRange(Math.floor(Date.parse(input.value) / 1000)) : other)
    const end = read(to, nowSeconds())
    return { start: read(from, Math.max(0, end - 3600)), end }
  }

  /** The filters, as the API takes them. */
  function filters() {
    const query = new URLSearchParams()
    for (const name of texts) {
      const value = form.elements[name].value.trim()
      if (value) query.set(name, value)
    }
    return query
  }

  function within({ start, end }, more) {
    const query = filters()
    query.set('start_time', start)
    query.set('end_time', end)
    for (const [name, value] of Object.entries(more)) query.set(name, value)
    return query
  }

  const own = record => Object.entries(record.fields ?? {})
  const textOf = value => (typeof value === 'object' ? JSON.stringify(value) : String(value))

  /** What a line says of its level: by a field, else by its beginning. */
  function levelOf(record) {
    const names = ['level', 'severity', 'log.level', 'levelname', 'lvl']
    const [, value] = own(record).find(([name]) => names.includes(name.toLowerCase())) ?? []
    const text = readable(record.log ?? '').slice(0, 200)
    const [, found, klog] = /\b(FATAL|PANIC|CRIT(?:ICAL)?|ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b|^([FEWID])\d{4} /i.exec(text) ?? []
    return value === undefined ? (found ?? klog ?? '').toLowerCase() : textOf(value)
  }

  function toLevel(level) {
    const kind = /^(?:f|e|crit|panic|alert)/i.test(level) ? 'bad' : /^w/i.test(level) ? 'warn' : ''
    return element('span', level ? `level ${kind}` : '', readable(level))
  }

  /** Local time, as the histogram and the fields for the range have it. */
  function toTime(time) {
    const when = element('time', '', time && toLocal(Date.parse(time) / 1000).slice(5).replace('T', ' ') + (/\.\d{1,3}/.exec(time)?.[0] ?? '').padEnd(4, ' '))
    when.dateTime = time
    when.title = time
    return when
  }

  function toItem(record) {
    const { time = '', namespace, pod, container, log = '', cursor } = record
    const item = element('li')
    const details = element('details')
    const summary = element('summary')
    const place = [namespace, pod, container].filter(Boolean).map(readable)
    const where = element('span', 'where')
    where.append(toTime(time))
    const line = element('span', 'line')
    const text = element('span', 'text')
    if (pod) line.append(element('i', '', readable(pod)))
    mark(text, readable(log))
    line.append(text)
    summary.append(where, toLevel(levelOf(record)), ...columns.map(name => toCell(record, name)), line)
    summary.title = place.join('/')
    details.append(summary)
    // Most lines are never unfolded.
    details.addEventListener('toggle', () => details.children.length > 1 || details.append(toDetail(record)))
    if (cursor) details.dataset.cursor = cursor
    item.append(details)
    return item
  }

  function toCell(record, name) {
    const value = Object.hasOwn(record.fields ?? {}, name) ? record.fields[name] : record[name]
    const cell = element('span', 'column', value === undefined ? '' : readable(textOf(value)))
    cell.dataset.name = name
    cell.title = `${name}: ${cell.textContent}`
    return cell
  }

  /** The heads of the columns; each takes its column away. */
  function showColumns() {
    const heads = columns.map(name => {
      const item = element('li')
      const button = element('button', 'plain', `${name} ✕`)
      button.type = 'button'
      button.setAttribute('aria-label', `Remove the column ${name}`)
      button.addEventListener('click', () => toggleColumn(name))
      item.append(button)
      return item
    })
    byId('columns').replaceChildren(...heads)
    byId('columns').hidden = heads.length === 0
    byId('records').style.setProperty('--columns', heads.length > 0 ? `repeat(${heads.length}, 8rem)` : '')
  }

  function toggleColumn(name) {
    columns = columns.includes(name) ? columns.filter(other => other !== name) : [...columns, name].slice(-mostColumns)
    showColumns()
    byId('lines').replaceChildren(...shown.map(toItem))
    showValues()
    writeAddress()
  }

  /** Which field a line shows in a column of its own. */
  function toColumnButton(name) {
    const button = element('button', 'plain', 'Column')
    button.type = 'button'
    button.setAttribute('aria-pressed', String(columns.includes(name)))
    button.setAttribute('aria-label', `Show ${readable(name)} in a column`)
    button.addEventListener('click', () => {
      toggleColumn(name)
      for (const one of byId('fields').querySelectorAll('h3 button')) if (one.ariaLabel === button.ariaLabel) one.focus()
    })
    return button
  }

  function toDetail(record) {
    const { time = '', log = '', cursor } = record
    const detail = element('div', 'detail')
    const tools = element('div', 'tools')
    const copy = element('button', 'plain', 'Copy')
    copy.type = 'button'
    copy.addEventListener('click', async () => {
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
    const origin = ['namespace', 'pod', 'container'].filter(name => record[name]).map(name => [name, record[name]])
    for (const [name, value] of [['time', time], ...origin, ...own(record)]) {
      const chip = element('li', 'chip')
      chip.append(element('b', '', readable(name)), element('span', '', readable(textOf(value))), ...toNarrowing(name, value))
      chips.append(chip)
    }
    detail.append(chips, tools)
    return detail
  }

  /** "Only this" and "not this", for what the query language can say. */
  function toNarrowing(name, value) {
    const text = textOf(value)
    if (name === 'time' || !/^[a-z_][\w.-]*$/i.test(name) || typeof value === 'object' || text === '' || text.length > 200) return []
    const term = `${name}:"${text.replace(/["\\]/g, '\\$&')}"`
    return toTermButtons(term, `${name} ${readable(text)}`)
  }

  function toTermButtons(term, said) {
    return [
      ['Only', 'Only lines with', term],
      ['Not', 'No lines with', `NOT ${term}`],
    ].map(([label, what, added]) => {
      const button = element('button', 'plain', label)
      button.type = 'button'
      button.setAttribute('aria-label', `${what} ${said}`)
      button.addEventListener('click', () => narrow(added))
      return button
    })
  }

  function narrow(term) {
    const { q } = form.elements
    const before = q.value.trim()
    q.value = [/\bOR\b/.test(before) ? `(${before})` : before, term].filter(Boolean).join(' ')
    zooms.length = 0
    search()
  }

  /** What is searched for by words: they are marked. */
  function markers() {
    const patterns = []
    for (const [, not, field, phrase, word] of form.elements.q.value.matchAll(/(NOT\s+|-)?(?:([\w.]+)[:<>])?(?:"((?:[^"\\]|\\.)*)"|\/(?:[^/\\]|\\.)*\/c?|([^\s()"]+))/g)) {
      const text = phrase?.replace(/\\(.)/g, '$1') ?? word ?? ''
      if (not || (field && field !== 'log' && field !== 'case') || /^(?:AND|OR|NOT)$/.test(word)) continue
      // Only what is before the next wildcard: more of them would take a browser minutes.
      const [, open, literal] = /^([*?]*)([^*?]*)/.exec(text)
      const parts = literal.match(/[\p{L}\p{N}]+/gu) ?? []
      if (parts.length > 0) patterns.push((open ? '' : '(?<![\\p{L}\\p{N}])') + parts.join('[^\\p{L}\\p{N}]{1,20}?') + (text.includes('*') ? '[\\p{L}\\p{N}]*' : ''))
    }
    return patterns.length > 0 ? new RegExp(patterns.join('|'), 'giu') : undefined
  }

  const mostMarked = 10_000
  function mark(target, text) {
    let at = 0
    for (const { index, 0: found } of marked ? text.slice(0, mostMarked).matchAll(marked) : []) {
      if (found === '') continue
      target.append(text.slice(at, index), element('mark', '', found))
      at = index + found.length
    }
    target.append(text.slice(at))
  }

  function toContextButton(record) {
    const button = element('button', 'plain context', 'Context')
    button.type = 'button'
    button.setAttribute('aria-expanded', 'false')
    button.addEventListener('click', () => void toggleContext(button, record).catch(report))
    return button
  }

  /** What the same container wrote around a line, whatever was searched for. */
  async function toggleContext(button, record) {
    const isOpen = button.getAttribute('aria-expanded') === 'true'
    button.setAttribute('aria-expanded', String(!isOpen))
    if (isOpen) {
      button.nextElementSibling?.remove()
      return
    }
    showError('')
    const around = element('ol', 'around')
    around.setAttribute('aria-label', 'The lines around it')
    button.after(around)
    const { cursor, namespace = '', pod = '', container = '' } = record
    const names = { namespaces: namespace, pods: pod, containers: container }
    const query = new URLSearchParams({ operation: 'context', cursor, ...names, before: 5, after: 5 })
    try {
      const { before, after } = (await (await request(`/logs/api/records?${query}`)).json()).context
      around.append(...before.map(toNeighbour), toNeighbour(record), ...after.map(toNeighbour))
      around.children[before.length].setAttribute('aria-current', 'true')
    } catch (error) {
      around.remove()
      button.setAttribute('aria-expanded', 'false')
      throw error
    }
  }

  function toNeighbour({ time = '', log = '' }) {
    const item = element('li')
    const when = element('time', 'where', time)
    when.dateTime = time
    item.append(when, element('span', 'said', readable(log)))
    return item
  }

  async function search({ keepAddress = false } = {}) {
    stopFollowing()
    running.abort()
    running = new AbortController()
    const { signal } = running
    showError('')
    const asked = span()
    marked = markers()
    if (!keepAddress) {
      linked = ''
      writeAddress()
    }
    showExport()
    byId('lines').setAttribute('aria-busy', 'true')
    void showPatterns(asked, signal).catch(report)
    await Promise.all([showLines(asked, signal), showHistogram(asked, signal)]).catch(report)
    byId('lines').setAttribute('aria-busy', 'false')
  }

  async function showLines(asked, signal) {
    const answer = await request(`/logs/api/records?${within(asked, { size: pageSize, with_cursor: true })}`, signal)
    const { total, records = [] } = (await answer.json()).query
    shown = []
    byId('lines').replaceChildren()
    byId('total').textContent = total === 0 ? 'No lines were found.' : `${total.toLocaleString()} lines, the newest first.`
    add(records)
    for (let i = 0; linked && !openLinked() && cursor && i < 10; i += 1) await showMore()
  }

  function add(records) {
    byId('lines').append(...records.map(toItem))
    shown.push(...records)
    remember(records)
    showValues()
  }

  /** All lines are read for it, so it is done only while someone looks. */
  async function showPatterns(asked, searching) {
    counting.abort()
    counting = new AbortController()
    const current = counting
    const signal = AbortSignal.any([searching, current.signal])
    const [list, note] = [byId('shapes'), byId('patterns-note')]
    list.replaceChildren()
    note.textContent = ''
    if (!byId('patterns').open) return
    note.textContent = 'Reading all lines of the search …'
    try {
      const query = within(asked, { operation: 'patterns', size: 50 })
      const { patterns } = await (await request(`/logs/api/records?${query}`, signal)).json()
      list.append(...patterns.map(toShape))
      note.textContent = patterns.length === 0 ? 'No lines were found.' : `${patterns.length} patterns, the most frequent first; <*> stands for what differs.`
    } catch (error) {
      if (counting === current) note.textContent = ''
      throw error
    }
  }

  function toShape({ pattern, count }) {
    const item = element('li')
    const text = element('code')
    for (const part of readable(pattern).split(/(<\*>)/)) text.append(part === '<*>' ? element('i', '', part) : part)
    item.append(element('b', '', count.toLocaleString()), text, ...toShapeButtons(pattern))
    return item
  }

  /** Lines that have the words of a pattern, each run of them side by side. */
  function toShapeButtons(pattern) {
    const runs = pattern.split('<*>').map(part => (part.match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')).filter(Boolean)
    if (runs.length === 0) return [element('span'), element('span')]
    const phrases = [...new Set(runs)].slice(0, 20).map(run => `"${run.slice(0, 200)}"`)
    const term = phrases.length === 1 ? phrases[0] : `(${phrases.join(' ')})`
    return toTermButtons(term, `the words of ${readable(pattern).slice(0, 200)}`)
  }

  function openLinked() {
    const details = [...byId('lines').querySelectorAll('details')].find(({ dataset }) => dataset.cursor === linked)
    if (!details) return false
    details.open = true
    details.querySelector('summary').focus()
    details.scrollIntoView({ block: 'center' })
    return true
  }

  function showExport() {
    const form = { operation: 'export', format: byId('format').value, with_time: true, with_pod: true }
    byId('export').href = `/logs/api/records?${within(span(), form)}`
    byId('export').download = `logs.${{ text: 'txt' }[form.format] ?? form.format}`
  }

  /** The most frequent values of each field, of the lines that are shown. */
  function showValues() {
    const counts = new Map()
    const count = (name, value) => {
      const values = counts.get(name) ?? counts.set(name, new Map()).get(name)
      values.set(value, (values.get(value) ?? 0) + 1)
    }
    for (const record of shown) {
      for (const name of ['namespace', 'pod', 'container']) if (record[name]) count(name, record[name])
      for (const [name, value] of own(record)) if (typeof value !== 'object') count(name, value)
    }
    const lists = [...counts].slice(0, 30).map(([name, values]) => {
      const list = element('ul')
      const top = [...values].sort(([, a], [, b]) => b - a).slice(0, 5)
      // Of a field that names each line by itself there is nothing to count.
      if (values.size > 5 && top[0]?.[1] === 1) return []
      list.append(...top.map(([value, lines]) => {
        const item = element('li')
        const text = element('span', '', readable(String(value)))
        text.title = readable(String(value))
        item.append(text, element('b', '', String(lines)), ...toNarrowing(name, value))
        return item
      }))
      const title = element('h3', '', readable(name))
      title.append(toColumnButton(name))
      return [title, list]
    })
    byId('fields').replaceChildren(element('p', 'quiet', `Of the ${shown.length} lines below.`), ...lists.flat())
    suggest('namespaces', [...known, ...shown.map(({ namespace }) => namespace)])
  }

  function remember(records) {
    cursor = records.length === pageSize ? records.at(-1).cursor : ''
    byId('more').hidden = cursor === ''
  }

  async function showMore() {
    const query = within(span(), { size: pageSize, with_cursor: true, cursor })
    const { records = [] } = (await (await request(`/logs/api/records?${query}`, running.signal)).json()).query
    add(records)
  }

  async function showHistogram(asked, signal) {
    const step = stepOf(asked)
    const query = within(asked, { operation: 'histogram', interval: `${step}s` })
    const { histograms } = (await (await request(`/logs/api/records?${query}`, signal)).json()).histogram
    const counts = new Map((histograms ?? []).map(({ time, count }) => [time / 1000, count]))
    const most = Math.max(1, ...counts.values())
    const bars = []
    for (let at = Math.floor(asked.start / step) * step; at < asked.end && bars.length <= mostBars + 1; at += step) {
      bars.push(toBar({ start: at, end: at + step, count: counts.get(at) ?? 0, most, first: bars.length === 0 }))
    }
    byId('histogram').replaceChildren(...bars)
    byId('most').textContent = most.toLocaleString()
    const [first, last] = [Number(bars[0]?.dataset.start), Number(bars.at(-1)?.dataset.end)]
    const ticks = [0, 0.25, 0.5, 0.75, 1].map(part => say(Math.round(first + part * (last - first))))
    byId('axis').replaceChildren(...ticks.map(tick => element('span', '', tick.slice(last - first > 86400 ? 5 : 11, -3))))
    spanText = `${say(asked.start)} to ${say(asked.end)}`
    byId('span').textContent = spanText
    byId('out').hidden = zooms.length === 0
  }

  /** The width of a bar: as many weeks as it takes for long ranges. */
  function stepOf({ start, end }) {
    const week = steps.at(-1)
    const found = steps.find(seconds => (end - start) / seconds <= mostBars)
    return found ?? week * Math.ceil((end - start) / week / mostBars)
  }

  function toBar({ start, end, count, most, first }) {
    const bar = element('button')
    bar.type = 'button'
    bar.tabIndex = first ? 0 : -1
    bar.dataset.start = start
    bar.dataset.end = end
    bar.title = `${say(start)} to ${say(end)}: ${count} lines`
    bar.setAttribute('aria-label', bar.title)
    const filled = element('i')
    filled.style.height = `${(100 * count) / most}%`
    bar.append(filled)
    return bar
  }

  function setSpan(start, end) {
    form.elements.range.value = 'own'
    form.elements.from.value = toLocal(start)
    form.elements.to.value = toLocal(end)
    showOwn()
  }

  function zoom(one, other) {
    const [start, end] = [
      Math.min(Number(one.dataset.start), Number(other.dataset.start)),
      Math.max(Number(one.dataset.end), Number(other.dataset.end)),
    ]
    const { range, from, to } = form.elements
    zooms.push([range.value, from.value, to.value])
    setSpan(start, end)
    search()
  }

  function zoomOut() {
    const [range, from, to] = zooms.pop() ?? ['3600', '', '']
    Object.assign(form.elements.range, { value: range })
    form.elements.from.value = from
    form.elements.to.value = to
    showOwn()
    search()
  }

  const showOwn = () => {
    for (const part of form.querySelectorAll('.own')) part.hidden = form.elements.range.value !== 'own'
  }

  // Zooming: by key, by click, and by dragging from one bar to another.
  const histogram = byId('histogram')
  // The bar that is pointed to, or has the focus, is said in words.
  for (const type of ['pointerover', 'focusin', 'pointerout', 'focusout']) {
    histogram.addEventListener(type, event => {
      byId('span').textContent = (/over|in$/.test(type) && event.target.closest('button')?.title) || spanText
    })
  }
  let dragged
  const barAt = event => document.elementFromPoint(event.clientX, event.clientY)?.closest('#histogram button')
  histogram.addEventListener('pointerdown', event => {
    dragged = barAt(event)
  })
  histogram.addEventListener('pointermove', event => {
    const bar = dragged && barAt(event)
    if (!bar) return
    const bars = [...histogram.children]
    const [low, high] = [bars.indexOf(dragged), bars.indexOf(bar)].sort((a, b) => a - b)
    bars.forEach((each, i) => each.classList.toggle('chosen', i >= low && i <= high))
  })
  addEventListener('pointerup', event => {
    const [from, to] = [dragged, dragged && barAt(event)]
    dragged = undefined
    if (from && to) zoom(from, to)
    for (const bar of histogram.children) bar.classList.remove('chosen')
  })
  histogram.addEventListener('keydown', event => {
    const bars = [...histogram.children]
    const at = bars.indexOf(document.activeElement)
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key]
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      if (at >= 0) zoom(bars[at], bars[at])
    } else if (to !== undefined && bars[to]) {
      event.preventDefault()
      for (const bar of bars) bar.tabIndex = -1
      bars[to].tabIndex = 0
      bars[to].focus()
    }
  })

  function stopFollowing() {
    isFollowing = false
    byId('follow').setAttribute('aria-pressed', 'false')
  }

  async function follow() {
    if (isFollowing) {
      running.abort()
      stopFollowing()
      byId('total').textContent = 'Stopped following.'
      return
    }
    running.abort()
    running = new AbortController()
    const { signal } = running
    showError('')
    isFollowing = true
    byId('follow').setAttribute('aria-pressed', 'true')
    byId('more').hidden = true
    byId('total').textContent = 'Following: new lines come first.'
    try {
      const query = filters()
      query.set('follow', 'true')
      query.set('size', '20')
      const answer = await request(`/logs/api/records?${query}`, signal)
      marked = markers()
      shown = []
      byId('lines').replaceChildren()
      await readLines(answer.body, signal)
      if (!signal.aborted) byId('total').textContent = 'The server ended the live tail. Press Follow to go on.'
    } catch (error) {
      if (!signal.aborted) report(error)
    }
    if (!signal.aborted) stopFollowing()
  }

  async function readLines(body, signal) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    const lines = byId('lines')
    for (let rest = ''; !signal.aborted; ) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + value).split('\n')
      rest = parts.pop()
      const records = parts.filter(Boolean).map(line => JSON.parse(line)).reverse()
      lines.prepend(...records.map(toItem))
      shown = [...records, ...shown].slice(0, mostLines)
      while (lines.children.length > mostLines) lines.lastChild.remove()
    }
  }

  const suggest = (list, names) => {
    const options = [...new Set(names)].filter(Boolean).sort().map(name => Object.assign(element('option'), { value: name }))
    byId(list).replaceChildren(...options)
  }

  /** Who may not list them types names instead. */
  async function itemsOf(path) {
    const answer = await fetch(path).catch(() => undefined)
    return answer?.ok ? (await answer.json()).items : []
  }

  async function suggestNamespaces() {
    const items = await itemsOf('/logs/api/namespaces?limit=-1')
    known = items.map(({ metadata }) => metadata.name)
    suggest('namespaces', known)
    await suggestGone()
  }

  /** Those that are gone, but have lines in the last day. */
  async function suggestGone() {
    const others = known.length > 0 && known.length < 1500 ? ` -namespace:in(${known.map(name => JSON.stringify(name)).join(',')})` : ''
    const query = new URLSearchParams({ query: `_time:1d namespace:*${others} | limit 1000`, field: 'namespace', limit: '50' })
    const answer = await fetch(`/logs/api/values?${query}`).catch(() => undefined)
    if (!answer?.ok) return
    known.push(...(await answer.json()).values.map(({ value }) => value))
    suggest('namespaces', known)
  }

  async function suggestPods() {
    const namespace = form.elements.namespaces.value.trim()
    const isName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace)
    const items = isName ? await itemsOf(`/logs/api/namespaces/${namespace}/pods?limit=500`) : []
    suggest('pods', items.map(({ metadata }) => metadata.name))
    suggest('containers', items.flatMap(({ spec }) => (spec?.containers ?? []).map(({ name }) => name)))
    const workloads = items.flatMap(({ metadata }) =>
      (metadata.ownerReferences ?? []).map(({ kind, name }) => (kind === 'ReplicaSet' ? name.replace(/-[a-z0-9]+$/, '') : name)),
    )
    suggest('workloads', workloads)
  }

  /** From and to in UTC: who gets the address may be elsewhere. */
  const toUtc = local => new Date(local).toISOString().replace('.000Z', 'Z')

  function toAddress() {
    const query = filters()
    const { range, from, to } = form.elements
    query.set('range', range.value)
    if (range.value === 'own') for (const { name, value } of [from, to]) if (value) query.set(name, toUtc(value))
    if (byId('wrap').ariaPressed === 'true') query.set('wrap', 'true')
    for (const name of columns) query.append('column', name)
    if (byId('patterns').open) query.set('patterns', 'true')
    return query
  }

  /** The search, around the time of a line. */
  function toLink(time, cursor) {
    const query = toAddress()
    const seconds = Math.floor(Date.parse(time) / 1000)
    query.set('range', 'own')
    query.set('from', toUtc((seconds - 300) * 1000))
    query.set('to', toUtc((seconds + 1) * 1000))
    query.set('line', cursor)
    return query
  }

  const writeAddress = () => history.pushState(null, '', `?${toAddress()}`)

  function setWrap(isWrapped) {
    byId('wrap').ariaPressed = String(isWrapped)
    byId('lines').classList.toggle('wrap', isWrapped)
  }

  function readAddress() {
    const query = new URLSearchParams(location.search)
    for (const name of texts) form.elements[name].value = query.get(name) ?? ''
    for (const name of ['from', 'to']) {
      const at = Date.parse(query.get(name) ?? '')
      form.elements[name].value = Number.isNaN(at) ? '' : toLocal(inRange(at / 1000))
    }
    form.elements.range.value = query.get('range') ?? '3600'
    if (form.elements.range.selectedIndex < 0) form.elements.range.value = '3600'
    linked = query.get('line') ?? ''
    setWrap(query.get('wrap') === 'true')
    columns = [...new Set(query.getAll('column'))].slice(0, mostColumns)
    showColumns()
    byId('patterns').open = query.get('patterns') === 'true'
    showOwn()
  }

  form.addEventListener('submit', event => {
    event.preventDefault()
    zooms.length = 0
    search()
  })
  form.elements.range.addEventListener('change', () => {
    showOwn()
    const { start, end } = { start: nowSeconds() - 3600, end: nowSeconds() }
    if (form.elements.range.value === 'own' && !form.elements.from.value) setSpan(start, end)
  })
  form.elements.namespaces.addEventListener('change', () => void suggestPods())
  byId('follow').addEventListener('click', () => void follow())
  byId('more').addEventListener('click', () => void showMore().catch(report))
  byId('format').addEventListener('change', showExport)
  byId('wrap').addEventListener('click', () => {
    setWrap(byId('wrap').ariaPressed !== 'true')
    writeAddress()
  })
  byId('out').addEventListener('click', zoomOut)
  // Its own click, and not what the address opens, which is part of a search.
  byId('patterns').querySelector('summary').addEventListener('click', () => {
    setTimeout(() => {
      writeAddress()
      void showPatterns(span(), running.signal).catch(report)
    })
  })
  addEventListener('popstate', () => {
    readAddress()
    search({ keepAddress: true })
  })

  byId('values').open = matchMedia('(min-width: 60rem)').matches
  readAddress()
  search({ keepAddress: true }).then(() => Promise.all([suggestNamespaces(), suggestPods()]))
}
