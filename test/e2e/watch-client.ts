import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { createInterface } from 'node:readline'
import { setting } from './run.ts'

type WatchedEvent = {
  readonly type: string
  readonly object: { readonly kind?: string; readonly metadata: Readonly<Record<string, unknown>> }
}

/** Starts a watch at kapis-apiserver, and collects its events. */
export function watch(token: string, target: string) {
  const events: WatchedEvent[] = []
  const state = { code: 0, isEnded: false }
  const url = new URL(target, setting('KAPIS_URL'))
  const headers = { authorization: `Bearer ${token}` }
  const req = request(url, { headers, ca: readFileSync(setting('KAPIS_CA')), agent: false }, res => {
    state.code = res.statusCode ?? 0
    const lines = createInterface(res)
    lines.on('line', line => void events.push(JSON.parse(line)))
    // Errors are ignored: the watch is aborted at the end of a test.
    lines.on('error', () => undefined)
    res.on('end', () => {
      state.isEnded = true
    })
    res.on('error', () => undefined)
  })
  req.on('error', () => undefined)
  req.end()
  const names = () => events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim())
  return { events, names, state, stop: () => req.destroy() }
}
