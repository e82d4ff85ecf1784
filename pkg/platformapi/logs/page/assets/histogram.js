// The number of lines over time. A user zooms in by clicking, by dragging over bars, and by keys.
import { byId, element } from './elements.js'
import { request } from './request.js'
import { toLocalText } from './times.js'

const mostBars = 60
const steps = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 21600, 86400, 604800]

/** @param onZoom receives the first and the last second of the bars that a user has selected */
export function createHistogram({ form, onZoom }) {
  const histogram = byId('histogram')
  let spanText = ''
  let dragged

  const zoom = (one, other) =>
    onZoom(
      Math.min(Number(one.dataset.start), Number(other.dataset.start)),
      Math.max(Number(one.dataset.end), Number(other.dataset.end)),
    )
  const barAt = event => document.elementFromPoint(event.clientX, event.clientY)?.closest('#histogram button')

  // The bar under the pointer, or with the focus, is described in words.
  for (const type of ['pointerover', 'focusin', 'pointerout', 'focusout']) {
    histogram.addEventListener(type, event => {
      byId('span').textContent = (/over|in$/.test(type) && event.target.closest('button')?.title) || spanText
    })
  }
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

  return {
    async show(span, signal) {
      const step = stepOf(span)
      const query = form.toQuery(span, { operation: 'histogram', interval: `${step}s` })
      const { histograms } = (await (await request(`/logs/api/records?${query}`, signal)).json()).histogram
      const counts = new Map((histograms ?? []).map(({ time, count }) => [time / 1000, count]))
      const most = Math.max(1, ...counts.values())
      const bars = []
      for (let at = Math.floor(span.start / step) * step; at < span.end && bars.length <= mostBars + 1; at += step) {
        bars.push(toBar({ start: at, end: at + step, count: counts.get(at) ?? 0, most, isFirst: bars.length === 0 }))
      }
      histogram.replaceChildren(...bars)
      byId('most').textContent = most.toLocaleString()
      showAxis(Number(bars[0]?.dataset.start), Number(bars.at(-1)?.dataset.end))
      spanText = `${toLocalText(span.start)} to ${toLocalText(span.end)}`
      byId('span').textContent = spanText
    },
  }
}

/** Returns the seconds of a bar: one of the steps, or whole weeks for long spans. */
function stepOf({ start, end }) {
  const week = steps.at(-1)
  const found = steps.find(seconds => (end - start) / seconds <= mostBars)
  return found ?? week * Math.ceil((end - start) / week / mostBars)
}

function showAxis(first, last) {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(part => toLocalText(Math.round(first + part * (last - first))))
  byId('axis').replaceChildren(...ticks.map(tick => element('span', '', tick.slice(last - first > 86400 ? 5 : 11, -3))))
}

function toBar({ start, end, count, most, isFirst }) {
  const bar = element('button')
  bar.type = 'button'
  bar.tabIndex = isFirst ? 0 : -1
  bar.dataset.start = start
  bar.dataset.end = end
  bar.title = `${toLocalText(start)} to ${toLocalText(end)}: ${count} lines`
  bar.setAttribute('aria-label', bar.title)
  const filled = element('i')
  filled.style.height = `${(100 * count) / most}%`
  bar.append(filled)
  return bar
}
