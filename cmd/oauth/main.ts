#!/usr/bin/env node
import { availableParallelism } from 'node:os'
import { runOAuth } from '../../pkg/oauth/run.ts'
import { runProgram } from '../program.ts'

// Password hashes use one thread per core. The other threads of the pool are for signing and file
// access, which must not wait for hashes.
// The pool reads this variable when it is first used, which is later.
process.env.UV_THREADPOOL_SIZE ??= String(availableParallelism() + 4)

const summary =
  'The OAuth server: logins, tokens and signing keys. It listens on a Unix socket, behind kapis-apiserver.'

await runProgram({ name: 'kapis-oauth', summary, listens: false }, runOAuth)
