#!/usr/bin/env node
import { availableParallelism } from 'node:os'
import { runOAuth } from '../../pkg/oauth/run.ts'
import { runProgram } from '../program.ts'

// Password hashes take a thread for each core. Signing and file access share the pool, and must not wait behind them.
// The pool is made when it is first used, which is later than this.
process.env.UV_THREADPOOL_SIZE ??= String(availableParallelism() + 4)

const summary =
  'The OAuth server: logins, tokens and signing keys. It listens on a Unix socket, behind kapis-apiserver.'

await runProgram({ name: 'kapis-oauth', summary, listens: false }, runOAuth)
