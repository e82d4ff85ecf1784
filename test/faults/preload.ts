import dns from 'node:dns'
import { readFileSync } from 'node:fs'

// This module is loaded before a program starts (--import), for two faults that cannot be produced
// otherwise: a clock that jumps for a single program, and names that do not resolve. FAULT_FILE
// contains the current fault.

export type FaultSettings = { readonly clockMs: number; readonly names: 'resolve' | 'fail' }

/** Host names with this suffix resolve to this machine. */
const zone = '.fault.test'
const file = process.env.FAULT_FILE ?? ''
let wrong: FaultSettings = { clockMs: 0, names: 'resolve' }
const look = () => {
  try {
    wrong = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // The error is ignored: the file is being written.
  }
}
look()
setInterval(look, 50).unref()

const RealDate = Date
const now = () => RealDate.now() + wrong.clockMs
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

const realLookup = dns.lookup
Object.assign(dns, {
  lookup(name: string, options: dns.LookupOptions, done: (...response: readonly unknown[]) => void) {
    if (!name.endsWith(zone)) return realLookup(name, options, done)
    setImmediate(() => {
      if (wrong.names === 'fail') {
        const code = 'EAI_AGAIN'
        done(Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code, syscall: 'getaddrinfo' }))
      } else if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }])
      else done(null, '127.0.0.1', 4)
    })
  },
})
