#!/usr/bin/env node
// This file must be valid in old versions of Node.js, to report that the version is too old.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 9)) {
  process.stderr.write(
    `kapis needs Node.js 24.9 or newer; this is ${process.version} (${process.execPath}). See https://nodejs.org\n`,
  )
  process.exitCode = 1
} else {
  const { run } = await import('./run.ts')
  process.exitCode = await run(process.argv.slice(2))
}
