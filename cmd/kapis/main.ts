#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' }
import { dispatch } from './dispatch.ts'

const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
// What is piped into `head` ends early, and that is no mistake.
process.stdout.on('error', () => process.exit(0))

process.exitCode = await dispatch(process.argv.slice(2), {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  env: process.env,
  signal: stop.signal,
  version: packageJson.version,
})
