#!/usr/bin/env node
import { availableParallelism } from 'node:os'
import { runOAuth } from '../../pkg/oauth/run.ts'
import { runProgram } from '../program.ts'

// Password hashes use one thread per core. Signing and file access share the thread pool, and must
// not wait for them.
// The pool is created on its first use, which is later than this.
process.env.UV_THREADPOOL_SIZE ??= String(availableParallelism() + 4)

const summary =
  'The OAuth server: logins, tokens and signing keys. It listens on a Unix socket, behind kapis-apiserver.'

await runProgram({ name: 'kapis-oauth', summary, listens: false }, runOAuth)
