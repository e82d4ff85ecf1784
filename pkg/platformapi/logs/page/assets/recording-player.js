// Plays an asciicast (version 2) in an element. xterm.js (headless) interprets the escape sequences.
import { Terminal } from './xterm-headless.mjs'

// As `kapis sessions play` does.
const longestPause = 2
// Sizes are data of the recorded session.
const maxSize = 500
// A page that seeks over a large recording remains responsive between pieces.
const pieceCharacters = 256 * 1024

const cssColor = value => `#${value.toString(16).padStart(6, '0')}`

/** A color of the palette with 256 entries; the first 16 are those of the style sheet. */
function paletteColor(index) {
  if (index < 16) return `var(--color-${index})`
  if (index >= 232) {
    const gray = 8 + 10 * (index - 232)
    return `rgb(${gray} ${gray} ${gray})`
  }
  const level = part => (part === 0 ? 0 : 55 + 40 * part)
  const [red, green, blue] = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6]
  return `rgb(${level(red)} ${level(green)} ${level(blue)})`
}

function colorOf(cell, part) {
  if (cell[`is${part}Default`]()) return ''
  const value = cell[`get${part}Color`]()
  return cell[`is${part}RGB`]() ? cssColor(value) : paletteColor(value)
}

/** The style of a cell. Concealed text (SGR 8) is shown: a reviewer must see what others did not. */
function styleOf(cell, isCursor) {
  const isInverted = (cell.isInverse() !== 0) !== isCursor
  const [own, behind] = [colorOf(cell, 'Fg'), colorOf(cell, 'Bg')]
  const foreground = isInverted ? behind || 'var(--screen)' : own
  const background = isInverted ? own || 'var(--text)' : behind
  const flags = [cell.isBold() && 'bold', cell.isItalic() && 'italic', cell.isUnderline() && 'underline', cell.isStrikethrough() && 'strike', cell.isDim() && 'dim']
  return { key: [foreground, background, ...flags].join(), foreground, background, className: flags.filter(Boolean).join(' ') }
}

function renderRow(line, columns, cursor) {
  const row = document.createElement('div')
  let run
  let key
  for (let x = 0; x < columns; x += 1) {
    const cell = line?.getCell(x)
    if (!cell || cell.getWidth() === 0) continue
    const style = styleOf(cell, x === cursor)
    if (style.key !== key) {
      run = document.createElement('span')
      run.className = style.className
      // Style properties that a script sets are not subject to style-src.
      run.style.color = style.foreground
      run.style.backgroundColor = style.background
      row.append(run)
      key = style.key
    }
    run.textContent += cell.getChars() || ' '
  }
  return row
}

/** @throws Error for anything but an asciicast of version 2 */
function parseCast(cast) {
  const [first = '', ...lines] = cast.split('\n')
  const header = parseJson(first)
  if (header?.version !== 2) throw new Error('the recording is not an asciicast of version 2')
  const events = lines.map(parseJson).filter(event => Array.isArray(event) && (event[1] === 'o' || event[1] === 'r'))
  return { header, events }
}

function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const clamp = (size, fallback) => (Number.isSafeInteger(size) && size > 0 ? Math.min(size, maxSize) : fallback)

const pad = number => String(number).padStart(2, '0')
const toClock = seconds => `${Math.floor(seconds / 60)}:${pad(Math.floor(seconds) % 60)}`

/** The time of each event in seconds since the start, with long pauses shortened if requested. */
function timesOf(events, isSkipping) {
  let [last, at] = [0, 0]
  return events.map(([seconds]) => {
    const pause = Math.max(0, seconds - last)
    last = Math.max(last, seconds)
    at += isSkipping ? Math.min(pause, longestPause) : pause
    return at
  })
}

/**
 * @param controls the elements: `screen`, `play`, `position`, `time`, `speed`, `skip`
 * @returns open(cast), which returns its header, play() and close()
 */
export function createPlayer(controls) {
  const { screen, play, position, time, speed, skip } = controls
  let terminal
  let usual = { cols: 80, rows: 24 }
  let events = []
  let times = []
  /** The number of events that the terminal shows. */
  let shown = 0
  let at = 0
  let isPlaying = false
  let last
  /** Changes with each seek, so that the writes of an earlier one end. */
  let generation = 0
  let writing = Promise.resolve()
  let isDrawn = false

  const total = () => times.at(-1) ?? 0

  function draw() {
    if (isDrawn) return
    isDrawn = true
    requestAnimationFrame(() => {
      isDrawn = false
      if (!terminal) return
      const { active } = terminal.buffer
      screen.style.setProperty('--columns', terminal.cols)
      const rows = Array.from({ length: terminal.rows }, (_, y) =>
        renderRow(active.getLine(active.baseY + y), terminal.cols, y === active.cursorY ? active.cursorX : -1),
      )
      screen.replaceChildren(...rows)
    })
  }

  function showPosition() {
    position.value = at
    const text = `${toClock(at)} of ${toClock(total())}`
    time.textContent = text
    position.setAttribute('aria-valuetext', text)
  }

  const write = text => new Promise(resolve => terminal.write(text, resolve))

  /** Shows the first `count` events in the terminal. */
  async function showEvents(count, own) {
    if (count < shown) {
      terminal.reset()
      terminal.resize(usual.cols, usual.rows)
      shown = 0
    }
    while (shown < count && own === generation) {
      const [, code, data] = events[shown]
      if (code === 'r') {
        const [, width, height] = /^(\d+)x(\d+)$/.exec(data) ?? []
        terminal.resize(clamp(Number(width), usual.cols), clamp(Number(height), usual.rows))
        shown += 1
        continue
      }
      let text = ''
      for (; shown < count && events[shown][1] === 'o' && text.length < pieceCharacters; shown += 1) text += events[shown][2]
      await write(text)
    }
    draw()
  }

  function update() {
    let count = shown
    while (count < events.length && times[count] <= at) count += 1
    while (count > 0 && times[count - 1] > at) count -= 1
    if (count === shown) return
    const own = generation
    writing = writing.then(() => (own === generation ? showEvents(count, own) : undefined))
  }

  function seek(seconds) {
    generation += 1
    at = Math.min(Math.max(seconds, 0), total())
    // Waits for the writes of an earlier seek, which end early.
    const own = generation
    writing = writing.then(() => {
      if (own === generation) update()
    })
    showPosition()
  }

  function setPlaying(value) {
    isPlaying = value
    play.textContent = isPlaying ? 'Pause' : 'Play'
    last = undefined
    if (isPlaying) requestAnimationFrame(tick)
  }

  function tick(now) {
    if (!isPlaying) return
    at = Math.min(at + ((now - (last ?? now)) / 1000) * Number(speed.value), total())
    last = now
    update()
    showPosition()
    if (at >= total()) setPlaying(false)
    else requestAnimationFrame(tick)
  }

  function toggle() {
    if (!terminal) return
    if (!isPlaying && at >= total()) seek(0)
    setPlaying(!isPlaying)
  }

  play.addEventListener('click', toggle)
  screen.addEventListener('keydown', event => {
    if (event.key === ' ') toggle()
    else if (event.key === 'ArrowLeft') seek(at - 5)
    else if (event.key === 'ArrowRight') seek(at + 5)
    else return
    event.preventDefault()
  })
  position.addEventListener('input', () => seek(Number(position.value)))
  skip.addEventListener('change', () => {
    // Keeps the current event, whose time has changed.
    const index = Math.max(shown - 1, 0)
    times = timesOf(events, skip.checked)
    position.max = total()
    seek(times[index] ?? 0)
  })

  return {
    open(cast) {
      const parsed = parseCast(cast)
      const { header } = parsed
      events = parsed.events
      times = timesOf(events, skip.checked)
      usual = { cols: clamp(header.width, 80), rows: clamp(header.height, 24) }
      // Output of a session without a terminal ends lines with LF alone.
      const convertEol = !events.some(([, code]) => code === 'r')
      terminal?.dispose()
      terminal = new Terminal({ ...usual, convertEol, scrollback: 0, allowProposedApi: true })
      generation += 1
      writing = Promise.resolve()
      shown = 0
      at = 0
      position.max = total()
      showPosition()
      draw()
      update()
      return header
    },
    play: () => setPlaying(true),
    close() {
      setPlaying(false)
      generation += 1
      terminal?.dispose()
      terminal = undefined
      events = []
      times = []
      screen.replaceChildren()
    },
  }
}
