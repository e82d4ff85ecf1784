#!/usr/bin/env node
import { runApiserver } from '../../pkg/apiserver/run.ts'
import { runProgram } from '../program.ts'

const summary =
  'The API server: authentication, authorization, the extension API, the platform API (/kapis) and the proxy to kube-apiserver.'

await runProgram({ name: 'kapis-apiserver', summary, listens: true }, ({ version, ...started }, signal) => {
  const build = { version, commit: process.env.KAPIS_COMMIT ?? '' }
  return runApiserver({ ...started, build }, signal)
})
