// The log page. Whatever comes from a log is put into the document as text (textContent), never as HTML.
'use strict'
{
  const byId = id => document.getElementById(id)
  const form = byId('search')
  const texts = ['q', 'namespaces', 'workloads', 'pods', 'containers']
  const pageSize = 100
  const mostLines = 1000
  const mostBars = 60
  const steps = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 21600, 86400, 604800]
  const wentToLogIn = 'went-to-log-in'
  let cursor = ''
  let running = new AbortController()
  let isFollowing = false
  const zooms = []

  // Escape sequences of terminals are taken out; other control characters, and those that turn the direction of text round, are shown.
  const readable = text =>
    text
      .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g, '')
      .replace(/\r?\n$/, '')
      .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')

  function element(name, className, text) {
    const made = document.createElement(name)
    if (className) made.className = className
    if (text !== undefined) made.textContent = text
    return made
  }

  // Rounded up: what came in this second is part of what there is now.
  const nowSeconds = () => Math.ceil(Date.now() / 1000)
  const pad = number => String(number).padStart(2, '0')
  function toLocal(seconds) {
    const at = new Date(seconds * 1000)
    const date = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join('-')
    return `${date}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`
  }
  const say = seconds => toLocal(seconds).replace('T', ' ')

  function span() {
    const { range, from, to } = form.elements
    if (range.value !== 'own') return { start: nowSeconds() - Number(range.value), end: nowSeconds() }
    const read = (input, other) => (input.value ? Math.floor(Date.parse(input.value) / 1000) : other)
    const end = read(to, nowSeconds())
    return { start: read(from, end - 3600), end }
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

  function showError(message) {
    byId('error').textContent = message
    byId('error').hidden = message === ''
  }

  class Failure extends Error {}

  async function ask(path, signal) {
    const answer = await fetch(path, { signal, headers: { accept: 'application/json' } }).catch(error => {
      if (error.name === 'AbortError') throw error
      throw new Failure('The server cannot be reached. Try again when the connection is back.')
    })
    if (answer.status === 401) {
      logIn()
      throw new Failure('You are not logged in.')
    }
    if (!answer.ok) {
      const status = await answer.json().catch(() => ({}))
      throw new Failure(`${status.message ?? 'The server gave no reason.'} (${answer.status})`)
    }
    sessionStorage.removeItem(wentToLogIn)
    return answer
  }

  /** Once by itself; when that was of no use, someone has to say so. */
  function logIn() {
    const path = `/logs/login?${new URLSearchParams({ return_to: location.search.slice(1) })}`
    if (sessionStorage.getItem(wentToLogIn) === null) {
      sessionStorage.setItem(wentToLogIn, 'yes')
      location.assign(path)
      return
    }
    sessionStorage.removeItem(wentToLogIn)
    const link = element('a', 'button', 'Log in')
    link.href = path
    byId('total').replaceChildren('You are not logged in. ', link)
  }

  function report(error) {
    if (error.name !== 'AbortError') showError(error instanceof Failure ? error.message : `This page failed: ${error.message}`)
  }

  function toItem(record) {
    const { time = '', namespace, pod, container, log = '', cursor } = record
    const item = element('li')
    const where = element('span', 'where')
    const when = element('time', '', time)
    when.dateTime = time
    where.append(when, ` ${[namespace, pod, container].filter(Boolean).map(readable).join('/')}`)
    item.append(where, element('span', 'text', readable(log)))
    if (cursor) item.append(toContextButton(record))
    return item
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
      const { before, after } = (await (await ask(`/logs/api/records?${query}`)).json()).context
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
    if (!keepAddress) writeAddress()
    byId('export').href = `/logs/api/records?${within(asked, { operation: 'export', with_time: true, with_pod: true })}`
    byId('lines').setAttribute('aria-busy', 'true')
    await Promise.all([showLines(asked, signal), showHistogram(asked, signal)]).catch(report)
    byId('lines').setAttribute('aria-busy', 'false')
  }

  async function showLines(asked, signal) {
    const answer = await ask(`/logs/api/records?${within(asked, { size: pageSize, with_cursor: true })}`, signal)
    const { total, records = [] } = (await answer.json()).query
    byId('lines').replaceChildren(...records.map(toItem))
    byId('total').textContent = total === 0 ? 'No lines were found.' : `${total.toLocaleString()} lines, the newest first.`
    remember(records)
  }

  function remember(records) {
    cursor = records.length === pageSize ? records.at(-1).cursor : ''
    byId('more').hidden = cursor === ''
  }

  async function showMore() {
    const query = within(span(), { size: pageSize, with_cursor: true, cursor })
    const { records = [] } = (await (await ask(`/logs/api/records?${query}`, running.signal)).json()).query
    byId('lines').append(...records.map(toItem))
    remember(records)
  }

  async function showHistogram(asked, signal) {
    const step = steps.find(seconds => (asked.end - asked.start) / seconds <= mostBars) ?? steps.at(-1)
    const query = within(asked, { operation: 'histogram', interval: `${step}s` })
    const { histograms } = (await (await ask(`/logs/api/records?${query}`, signal)).json()).histogram
    const counts = new Map((histograms ?? []).map(({ time, count }) => [time / 1000, count]))
    const most = Math.max(1, ...counts.values())
    const bars = []
    for (let at = Math.floor(asked.start / step) * step; at < asked.end && bars.length <= mostBars + 1; at += step) {
      bars.push(toBar({ start: at, end: at + step, count: counts.get(at) ?? 0, most, first: bars.length === 0 }))
    }
    byId('histogram').replaceChildren(...bars)
    byId('span').textContent = `${say(asked.start)} to ${say(asked.end)}`
    byId('out').hidden = zooms.length === 0
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
      const answer = await ask(`/logs/api/records?${query}`, signal)
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
      lines.prepend(...parts.filter(Boolean).map(line => toItem(JSON.parse(line))).reverse())
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
    suggest('namespaces', items.map(({ metadata }) => metadata.name))
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

  function writeAddress() {
    const query = filters()
    for (const name of ['range', 'from', 'to']) if (form.elements[name].value) query.set(name, form.elements[name].value)
    history.pushState(null, '', `?${query}`)
  }

  function readAddress() {
    const query = new URLSearchParams(location.search)
    for (const name of [...texts, 'from', 'to']) form.elements[name].value = query.get(name) ?? ''
    form.elements.range.value = query.get('range') ?? '3600'
    if (form.elements.range.selectedIndex < 0) form.elements.range.value = '3600'
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
  byId('out').addEventListener('click', zoomOut)
  addEventListener('popstate', () => {
    readAddress()
    search({ keepAddress: true })
  })

  readAddress()
  search({ keepAddress: true }).then(() => Promise.all([suggestNamespaces(), suggestPods()]))
}
